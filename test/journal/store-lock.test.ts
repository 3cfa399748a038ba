// One daemon per folder: by a name, by a lock of a file, and what is said to who comes second.
import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { connect, Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { lockStore, StoreInUse } from '../../daemon/journal/store-lock.ts'
import { bundleProgram, spawnProgram } from '../support/program.ts'
import { watchDisk } from '../support/watched-disk.ts'

const root = mkdtempSync(join(tmpdir(), 'natter-lock-'))
after(() => rmSync(root, { recursive: true, force: true }))

/** Where a name is the lock, the message says how to find out which process has it. */
const unknownHolder =
  process.platform === 'linux'
    ? /in use by another natterd \('sudo ss -xlp \| grep natter-store-\d+-\d+' shows its process\); stop it first/
    : /in use by another natterd; stop it first/

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
      assert.deepEqual([error.name, error.folder], ['StoreInUse', folder])
      assert.deepEqual([error.pid, error.url], [4711, 'http://127.0.0.1:9991'])
      assert.match(
        error.message,
        /in use by another natterd \(process 4711 at http:\/\/127.0.0.1:9991\); stop it first/,
      )
      return true
    })
    for (const text of ['{"pid":', '{"pid":"4711","url":7}', 'null']) {
      writeFileSync(join(folder, 'daemon.json'), text)
      await assert.rejects(lockStore(folder), unknownHolder)
    }
    await lock.release()
  })

  test('vanishes with kill -9 of its holder, and leaves nothing behind', async () => {
    const folder = newFolder()
    const child = await holder(folder, 'setInterval(() => {}, 1000)')
    await once(child.stdout!, 'data')
    await assert.rejects(lockStore(folder), StoreInUse)
    child.kill('SIGKILL')
    await once(child, 'close')
    await (await lockStore(folder)).release()
  })

  test('does not keep its holder alive', async () => {
    const child = await holder(newFolder(), '')
    const [code] = await once(child, 'close')
    assert.equal(code, 0)
  })
})

async function holder(folder: string, andThen: string): Promise<ChildProcess> {
  const program = await bundleProgram(`
    import { lockStore } from './daemon/journal/store-lock.ts'
    await lockStore(process.argv[1])
    console.log('locked')
    ${andThen}
  `)
  return spawnProgram(program, folder)
}

describe('the lock of a store on Linux', { skip: process.platform !== 'linux' }, () => {
  /** Locks with other values of the process, which are put back. */
  async function lockWith(folder: string, platform: string, path = process.env.PATH ?? '') {
    const [realPlatform, realPath] = [process.platform, process.env.PATH]
    Object.defineProperty(process, 'platform', { value: platform })
    process.env.PATH = path
    try {
      return await lockStore(folder)
    } finally {
      Object.defineProperty(process, 'platform', { value: realPlatform })
      process.env.PATH = realPath
    }
  }

  /** A folder with a program of this name that ends with the code. */
  function programs(name: string, code: number): string {
    const folder = newFolder()
    writeFileSync(join(folder, name), `#!/bin/sh\nexit ${code}\n`, { mode: 0o755 })
    return folder
  }

  const isMissing = spawnSync('flock', ['--version']).error !== undefined

  test('has a name that is no file, and serves nothing there', async () => {
    const folder = newFolder()
    const lock = await lockStore(folder)
    const { dev, ino } = statSync(folder, { bigint: true })
    const name = `natter-store-${dev}-${ino}`
    assert.match(readFileSync('/proc/net/unix', 'utf8'), new RegExp(` @${name}@*$`, 'm'))
    const socket = connect({ path: `\0${name}` }).resume()
    await once(socket, 'close')
    await lock.release()
  })

  for (const platform of ['linux', 'android'])
    test(`is a lock of the file too, which keeps out who does not see the name (${platform})`, {
      skip: isMissing,
    }, async () => {
      const folder = newFolder()
      const other = spawn('flock', ['-n', join(folder, 'lock'), 'cat'], { stdio: ['pipe', 'pipe', 'inherit'] })
      other.stdin.write('held')
      await once(other.stdout, 'data')
      await assert.rejects(lockWith(folder, platform), StoreInUse)
      other.stdin.end()
      await once(other, 'close')
      // Who was refused holds nothing.
      const lock = await lockWith(folder, platform)
      assert.equal(lock.warning, undefined)
      const args = ['-n', join(folder, 'lock'), 'true']
      assert.equal(spawnSync('flock', args).status, 1)
      await lock.release()
      assert.equal(spawnSync('flock', args).status, 0)
    })

  test('closes the file when it is refused', async () => {
    const folder = newFolder()
    const calls = await watchDisk(folder, () =>
      assert.rejects(lockWith(folder, 'linux', programs('flock', 1)), StoreInUse),
    )
    assert.deepEqual(calls, ['open lock', 'close lock'])
  })

  for (const [what, path, reason] of [
    ['is missing', () => newFolder(), /cannot be locked \(spawn flock ENOENT\); a natterd in another container/],
    ['fails', () => programs('flock', 5), /cannot be locked \(flock ended with 5\)/],
  ] as const)
    test(`a flock program that ${what} is a warning, and the name alone keeps others out`, async () => {
      const folder = newFolder()
      const lock = await lockWith(folder, 'linux', path())
      assert.match(lock.warning!, reason)
      await assert.rejects(lockWith(folder, 'linux', path()), StoreInUse)
      await lock.release()
      await (await lockWith(folder, 'linux', path())).release()
    })

  test('a file that cannot be opened is an error, and leaves no lock', async () => {
    const folder = newFolder()
    mkdirSync(join(folder, 'lock'))
    await assert.rejects(lockStore(folder), { code: 'EISDIR' })
    rmdirSync(join(folder, 'lock'))
    await (await lockStore(folder)).release()
  })

  test('a name that cannot be taken for another reason is an error', async t => {
    const { listen } = Server.prototype
    t.after(() => {
      Server.prototype.listen = listen
    })
    Server.prototype.listen = function (this: Server) {
      setImmediate(() => this.emit('error', Object.assign(new Error('EMFILE'), { code: 'EMFILE' })))
      return this
    }
    await assert.rejects(lockStore(newFolder()), { code: 'EMFILE' })
  })

  // The flags of open(2) that macOS knows do nothing here: what it answers is simulated.
  test('on other systems the file is the lock: busy means in use, and other errors are thrown', async () => {
    const folder = newFolder()
    writeFileSync(join(folder, 'lock'), '')
    const calls = await watchDisk(folder, async () => {
      const lock = await lockWith(folder, 'darwin')
      await lock.release()
      await lock.release()
    })
    assert.deepEqual(calls, ['open lock', 'close lock'])
    const answer = (code: string) => (call: string) => (call === 'open lock' ? code : undefined)
    await watchDisk(folder, () => assert.rejects(lockWith(folder, 'darwin'), StoreInUse), answer('EAGAIN'))
    await watchDisk(folder, () => assert.rejects(lockWith(folder, 'darwin'), { code: 'EACCES' }), answer('EACCES'))
  })
})
