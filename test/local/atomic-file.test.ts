// Whole files: replaced at once, private, never through a planted link, and without leftovers.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'
import {
  makeFolderSync,
  removeUnfinished,
  writeFileAtomically,
  writeFileAtomicallySync,
} from '../../daemon/local/atomic-file.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'natter-atomic-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const writers = {
  writeFileAtomically,
  writeFileAtomicallySync: async (path: string, text: string) => writeFileAtomicallySync(path, text),
  'writeFileAtomicallySync, not durable': async (path: string, text: string) =>
    writeFileAtomicallySync(path, text, { durable: false }),
}

for (const [name, write] of Object.entries(writers))
  describe(name, () => {
    test('replaces the content and makes the file private, whatever it was before', async () => {
      const path = join(folder, 'profiles.json')
      writeFileSync(path, 'old and longer')
      chmodSync(path, 0o644)
      await write(path, 'new')
      assert.equal(readFileSync(path, 'utf8'), 'new')
      if (process.platform !== 'win32') assert.equal(statSync(path).mode & 0o777, 0o600)
      assert.deepEqual(readdirSync(folder), ['profiles.json'])
    })

    test('takes an empty text', async () => {
      await write(join(folder, 'empty'), '')
      assert.equal(readFileSync(join(folder, 'empty'), 'utf8'), '')
    })

    test('replaces neither a pipe nor a link to one', { skip: process.platform === 'win32' }, async () => {
      const [path, link] = [join(folder, 'pipe'), join(folder, 'link')]
      execFileSync('mkfifo', [path])
      symlinkSync(path, link)
      for (const place of [path, link, '/dev/stdout'])
        await assert.rejects(write(place, 'new'), /\w is a device, a pipe or a socket; give the name of a file/)
      assert.ok(lstatSync(path).isFIFO())
      assert.deepEqual(readdirSync(folder), ['link', 'pipe'])
    })

    test('does not write through a link at the path itself', async () => {
      const [path, target] = [join(folder, 'secret'), join(folder, 'elsewhere')]
      writeFileSync(target, 'not yours')
      symlinkSync(target, path)
      await write(path, 'mine')
      assert.equal(readFileSync(target, 'utf8'), 'not yours')
      assert.equal(readFileSync(path, 'utf8'), 'mine')
    })

    test('does not write through a link that someone planted under the temporary name', async t => {
      const { randomUUID } = crypto
      t.after(() => {
        crypto.randomUUID = randomUUID
      })
      crypto.randomUUID = () => '00000000-0000-4000-8000-000000000000'
      const [path, target] = [join(folder, 'secret'), join(folder, 'elsewhere')]
      writeFileSync(target, 'not yours')
      symlinkSync(target, `${path}.${crypto.randomUUID()}.tmp`)
      await assert.rejects(write(path, 'mine'), { code: 'EEXIST' })
      assert.equal(readFileSync(target, 'utf8'), 'not yours')
    })

    test('says that the folder is missing', async () => {
      await assert.rejects(write(join(folder, 'missing', 'secret'), 'text'), { code: 'ENOENT', syscall: 'open' })
    })

    test('removes the temporary file when the file cannot take its name', async () => {
      mkdirSync(join(folder, 'taken'))
      await assert.rejects(write(join(folder, 'taken'), 'text'))
      assert.deepEqual(readdirSync(folder), ['taken'])
    })
  })

describe('writeFileAtomically', () => {
  test('keeps the old content until the last piece is written', async () => {
    const path = join(folder, 'state.json')
    writeFileSync(path, 'old')
    async function* pieces() {
      yield 'half '
      assert.equal(readFileSync(path, 'utf8'), 'old')
      assert.equal(readdirSync(folder).length, 2)
      yield Buffer.from('and half')
    }
    await writeFileAtomically(path, pieces())
    assert.equal(readFileSync(path, 'utf8'), 'half and half')
  })

  test('leaves the old file and nothing else when the content fails half way', async () => {
    const path = join(folder, 'state.json')
    writeFileSync(path, 'old')
    async function* pieces() {
      yield 'half'
      throw new Error('no more')
    }
    await assert.rejects(writeFileAtomically(path, pieces()), /no more/)
    assert.deepEqual(readdirSync(folder), ['state.json'])
    assert.equal(readFileSync(path, 'utf8'), 'old')
  })

  test('lets two writers of the same file both finish', async () => {
    const path = join(folder, 'one')
    await Promise.all([writeFileAtomically(path, 'a'), writeFileAtomically(path, 'b')])
    assert.match(readFileSync(path, 'utf8'), /^[ab]$/)
    assert.deepEqual(readdirSync(folder), ['one'])
  })
})

test('writeFileAtomicallySync without `replace` leaves a file or a link as it is', () => {
  const [path, link] = [join(folder, 'handler.ts'), join(folder, 'link.ts')]
  writeFileAtomicallySync(path, 'mine', { replace: false })
  symlinkSync(join(folder, 'missing'), link)
  for (const there of [path, link])
    assert.throws(() => writeFileAtomicallySync(there, 'other', { replace: false }), { code: 'EEXIST' })
  assert.equal(readFileSync(path, 'utf8'), 'mine')
  assert.deepEqual(readdirSync(folder).sort(), ['handler.ts', 'link.ts'])
})

describe('makeFolderSync', () => {
  test('makes a folder and those above it, for their owner alone', () => {
    makeFolderSync(join(folder, 'a', 'b'))
    for (const name of ['a', 'a/b'])
      if (process.platform !== 'win32') assert.equal(statSync(join(folder, name)).mode & 0o777, 0o700)
  })

  test('leaves a folder as it is', () => {
    chmodSync(folder, 0o755)
    makeFolderSync(folder)
    if (process.platform !== 'win32') assert.equal(statSync(folder).mode & 0o777, 0o755)
  })

  test('says that a file is in its place, or above it', { skip: process.platform === 'win32' }, () => {
    const file = join(folder, 'file')
    writeFileSync(file, '')
    assert.throws(() => makeFolderSync(file), { code: 'EEXIST' })
    assert.throws(() => makeFolderSync(join(file, 'below')), { code: 'ENOTDIR' })
  })
})

describe('removeUnfinished', () => {
  test('removes what earlier attempts left, and no file of another name', () => {
    const others = ['journal-3.tmp', 'state.json', 'state.json.bak', 'state.json.mine.tmp', 'state.json.tmp']
    for (const name of [`state.json.${crypto.randomUUID()}.tmp`, ...others]) writeFileSync(join(folder, name), '')
    removeUnfinished(join(folder, 'state.json'))
    assert.deepEqual(readdirSync(folder).sort(), others)
    removeUnfinished(join(folder, 'missing', 'state.json'))
    assert.ok(!existsSync(join(folder, 'missing')))
  })
})
