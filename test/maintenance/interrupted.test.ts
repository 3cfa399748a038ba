// Backups, restores and checks that a signal ends, or that were killed: no copy of the store stays behind, and a store stays usable.

import assert from 'node:assert/strict'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { newShell } from '../support/cli.ts'
import { host } from '../support/daemon.ts'
import { until } from '../support/until.ts'

let scratch: string
let store: string

before(async () => {
  scratch = mkdtempSync(join(tmpdir(), 'natter-interrupted-'))
  store = join(scratch, 'store')
  const daemon = await host(store)
  await daemon.stop()
})

after(() => rmSync(scratch, { recursive: true, force: true }))

const place = (name: string) => join(mkdtempSync(join(scratch, 'case-')), name)
/** Subcommands hear of them by `onSignals`: the first test has each of them, the others one. */
const signals = [
  ['SIGINT', 130],
  ['SIGTERM', 143],
  ['SIGHUP', 129],
] as const
const longAgo = new Date(Date.now() - 2 * 24 * 60 * 60 * 1000)

describe('natter backup', () => {
  test('leaves nothing beside its file or in the store when a signal ends it', async t => {
    mkdirSync(join(store, 'outbox'), { recursive: true })
    const large = join(store, 'outbox', 'large.eml')
    writeFileSync(large, '')
    // Long enough to be interrupted. It takes no room itself.
    truncateSync(large, 2 ** 32)
    t.after(() => rmSync(large))
    const before = readdirSync(store)
    for (const [signal, code] of signals) {
      const file = place('natter.tar')
      const child = newShell(t).spawn(['backup', file, '--data', store])
      const ended = new Promise(resolve => child.once('close', resolve))
      await until(() => readdirSync(dirname(file)).length > 0)
      child.kill(signal)
      assert.equal(await ended, code)
      assert.deepEqual(readdirSync(dirname(file)), [])
      assert.deepEqual(readdirSync(store), before)
    }
  })

  test('removes what one that was killed left, once it is a day old', async t => {
    const file = place('natter.tar')
    const [old, young] = [1, 2].map(n => `${file}.00000000-0000-4000-8000-00000000000${n}.tmp`)
    for (const path of [old!, young!, `${file}.mine.tmp`]) writeFileSync(path, '')
    for (const path of [old!, `${file}.mine.tmp`]) utimesSync(path, longAgo, longAgo)
    assert.equal((await newShell(t).run(['backup', file, '--data', store])).code, 0)
    assert.deepEqual([old!, young!, `${file}.mine.tmp`].map(existsSync), [false, true, true])
  })
})

describe('natter restore --check', () => {
  test('leaves nothing in the temporary folder when a signal ends it', async t => {
    const shell = newShell(t)
    const file = place('natter.tar')
    assert.equal((await shell.run(['backup', file, '--data', store])).code, 0)
    const start = readFileSync(file).subarray(0, -2048)
    const temporary = mkdtempSync(join(scratch, 'tmp-'))
    const child = shell.spawn(['restore', '-', '--check'], { env: { TMPDIR: temporary } })
    const ended = new Promise(resolve => child.once('close', resolve))
    child.stdin!.write(start)
    await until(() => readdirSync(temporary, { recursive: true }).some(name => String(name).endsWith('secret')))
    child.kill('SIGTERM')
    assert.equal(await ended, 143)
    assert.deepEqual(readdirSync(temporary), [])
  })

  test('removes what one that was killed left, once it is a day old', async t => {
    const file = place('natter.tar')
    assert.equal((await newShell(t).run(['backup', file, '--data', store])).code, 0)
    const temporary = mkdtempSync(join(scratch, 'tmp-'))
    const [old, young, other] = [
      'natter-restore-check-aaaaaa',
      'natter-restore-check-bbbbbb',
      'natter-restore-check-of-mine',
    ]
    for (const name of [old!, young!, other!]) mkdirSync(join(temporary, name))
    for (const name of [old!, other!]) utimesSync(join(temporary, name), longAgo, longAgo)
    const { code, stderr } = await newShell(t, { TMPDIR: temporary }).run(['restore', file, '--check'])
    assert.equal(code, 0, stderr)
    assert.deepEqual(readdirSync(temporary).sort(), [young, other])
  })
})

describe('natter restore', () => {
  test('leaves the store as it was when a signal or kill -9 ends it while it reads the backup', async t => {
    const shell = newShell(t)
    const file = place('natter.tar')
    assert.equal((await shell.run(['backup', file, '--data', store])).code, 0)
    const start = readFileSync(file).subarray(0, -2048)
    const before = readdirSync(store)
    for (const [signal, code] of [
      ['SIGHUP', 129],
      ['SIGKILL', null],
    ] as const) {
      const child = shell.spawn(['restore', '-', '--replace', '--data', store])
      const ended = new Promise(resolve => child.once('close', resolve))
      child.stdin!.on('error', () => {}).write(start)
      await until(() => readdirSync(store).some(name => /^(unpacking|restoring)-/.test(name)))
      child.kill(signal)
      assert.equal(await ended, code)
      if (code !== null) assert.deepEqual(readdirSync(store), before)
      await (await host(store)).stop()
    }
    assert.equal((await shell.run(['restore', file, '--replace', '--data', store])).code, 0)
    assert.ok(!readdirSync(store).some(name => /^(unpacking|restoring)-/.test(name)))
    await (await host(store)).stop()
  })
})
