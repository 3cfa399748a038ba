// One daemon per folder, and what is said about a folder that cannot be used.
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { prepareFolder, StoreUnusable } from '../../daemon/journal/store-folder.ts'
import { lockStore, StoreInUse } from '../../daemon/journal/store-lock.ts'

const root = mkdtempSync(join(tmpdir(), 'natter-lock-'))
after(() => rmSync(root, { recursive: true, force: true }))

const newFolder = () => mkdtempSync(join(root, 'store-'))

describe('the lock of a store', () => {
  test('is given once, by whatever path, until it is released', async () => {
    const folder = newFolder()
    const other = join(root, 'link')
    symlinkSync(folder, other)
    const lock = await lockStore(folder)
    await assert.rejects(lockStore(folder), StoreInUse)
    await assert.rejects(lockStore(other), StoreInUse)
    const elsewhere = await lockStore(newFolder())
    await elsewhere.release()
    await lock.release()
    await lock.release()
    await (await lockStore(other)).release()
  })

  test('of many who ask at once, one gets it', async () => {
    const folder = newFolder()
    const results = await Promise.allSettled(Array.from({ length: 20 }, () => lockStore(folder)))
    const held = results.filter(result => result.status === 'fulfilled')
    assert.equal(held.length, 1)
    await held[0]!.value.release()
  })

  test('who is refused learns who holds it', async () => {
    const folder = newFolder()
    const lock = await lockStore(folder)
    writeFileSync(join(folder, 'daemon.json'), '{"pid":4711,"url":"http://127.0.0.1:9991"}')
    await assert.rejects(lockStore(folder), error => {
      assert.ok(error instanceof StoreInUse)
      assert.deepEqual([error.pid, error.url], [4711, 'http://127.0.0.1:9991'])
      assert.match(
        error.message,
        /in use by another natterd \(process 4711 at http:\/\/127.0.0.1:9991\); stop it first/,
      )
      return true
    })
    writeFileSync(join(folder, 'daemon.json'), '{"pid":')
    await assert.rejects(lockStore(folder), /in use by another natterd; stop it first/)
    await lock.release()
  })

  test('vanishes with kill -9 of its holder, and leaves nothing behind', async () => {
    const folder = newFolder()
    const child = holder(folder, 'setInterval(() => {}, 1000)')
    await once(child.stdout!, 'data')
    await assert.rejects(lockStore(folder), StoreInUse)
    child.kill('SIGKILL')
    await once(child, 'close')
    await (await lockStore(folder)).release()
  })

  test('does not keep its holder alive', async () => {
    const child = holder(newFolder(), '')
    const [code] = await once(child, 'close')
    assert.equal(code, 0)
  })
})

function holder(folder: string, andThen: string): ChildProcess {
  const program = `
    import { lockStore } from ${JSON.stringify(new URL('../../daemon/journal/store-lock.ts', import.meta.url).href)}
    await lockStore(process.argv[1])
    console.log('locked')
    ${andThen}
  `
  return spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', program, folder], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

describe('the folder of a store', () => {
  test('is made with its parents, for its owner alone, and left clean', async () => {
    const folder = join(newFolder(), 'a', 'b')
    await prepareFolder(folder)
    assert.equal(statSync(folder).mode & 0o777, 0o700)
    assert.deepEqual(readdirSync(folder), [])
  })

  test('keeps its mode when it was there', async () => {
    const folder = join(newFolder(), 'mine')
    mkdirSync(folder)
    chmodSync(folder, 0o755)
    await prepareFolder(folder)
    assert.equal(statSync(folder).mode & 0o777, 0o755)
  })

  test('a file in its place or above it is refused with a sentence', async () => {
    const file = join(newFolder(), 'file')
    writeFileSync(file, '')
    for (const path of [file, join(file, 'below')])
      await assert.rejects(prepareFolder(path), error => {
        assert.ok(error instanceof StoreUnusable)
        assert.match(error.message, /file and not a folder; choose another path/)
        return true
      })
  })

  test('a folder that may not be written to is refused with a sentence', {
    skip: process.getuid?.() === 0,
  }, async () => {
    const folder = newFolder()
    chmodSync(folder, 0o500)
    await assert.rejects(prepareFolder(folder), /no permission to write there/)
  })
})
