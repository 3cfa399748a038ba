// A clean stop is recorded: what is wrong with the end of the journal after it is damage, and not a write that was interrupted.

import assert from 'node:assert/strict'
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { messages } from '../../daemon/api/messages/messages.ts'
import { cleanStopName } from '../../daemon/journal/clean-stop.ts'
import { backupToFile } from '../../daemon/maintenance/backup.ts'
import { newShell } from '../support/cli.ts'
import { host, launch, spawnDaemon, type TestDaemon } from '../support/daemon.ts'

const damage =
  /journal\.ndjson, line \d+: the journal ends at position \d+, but natterd stopped cleanly at position \d+/

describe('after a clean stop', () => {
  let scratch: string
  let stopped: string

  before(async () => {
    scratch = mkdtempSync(join(tmpdir(), 'natter-stop-'))
    stopped = mkdtempSync(join(scratch, 'stopped-'))
    const daemon = await host(stopped)
    await say(daemon, 'one')
    await say(daemon, 'two')
    await daemon.end()
  })

  after(() => rmSync(scratch, { recursive: true, force: true }))

  function copy(): string {
    const folder = mkdtempSync(join(scratch, 'case-'))
    cpSync(stopped, folder, { recursive: true })
    return folder
  }

  function flipInLastLine(folder: string): void {
    const path = join(folder, 'journal.ndjson')
    const bytes = readFileSync(path)
    bytes[bytes.lastIndexOf('\n') - 40]! ^= 1
    writeFileSync(path, bytes)
  }

  test('a flipped bit in the last line is refused by a start and by `store check`, which changes nothing', async t => {
    const folder = copy()
    flipInLastLine(folder)
    await assert.rejects(host(folder), damage)
    const { code, stdout } = await newShell(t).run(['store', 'check', '--data', folder])
    assert.equal(code, 1)
    assert.match(stdout, damage)
    const lines = readFileSync(join(folder, 'journal.ndjson'), 'utf8').trimEnd().split('\n').length
    assert.match(stdout, new RegExp(`line ${lines}:`))
    const file = join(folder, 'natter.tar')
    const options = { folder, withoutSecret: false, now: new Date() }
    await assert.rejects(backupToFile(file, options), damage, 'nor is it backed up as if it were whole')
  })

  test('a journal that became shorter, or is gone, is refused', async () => {
    const shorter = copy()
    const journal = join(shorter, 'journal.ndjson')
    truncateSync(journal, readFileSync(journal).length - 10)
    await assert.rejects(host(shorter), damage)
    const gone = copy()
    rmSync(join(gone, 'journal.ndjson'))
    await assert.rejects(host(gone), damage)
  })

  test('the operator can go on without the damaged entries', async () => {
    const folder = copy()
    flipInLastLine(folder)
    rmSync(join(folder, cleanStopName))
    const daemon = await launch(folder)
    assert.match(daemon.stderr, /the last write was not finished; cut \d+ bytes/)
    await daemon.kill()
  })

  test('`store check` reports a clean stop, but not while a daemon runs or after it was killed', async t => {
    const folder = copy()
    const check = async () => JSON.parse((await newShell(t).run(['store', 'check', '--data', folder, '--json'])).stdout)
    const sentence = async () => (await newShell(t).run(['store', 'check', '--data', folder])).stdout
    assert.equal((await check()).stopped_cleanly, true)
    assert.match(await sentence(), /^ok: .*, stopped cleanly\n$/)
    const daemon = await launch(folder)
    assert.equal((await check()).stopped_cleanly, false)
    await daemon.kill()
    assert.equal((await check()).stopped_cleanly, false)
    assert.match(await sentence(), /^ok: .*, in use, or not stopped cleanly\n$/)
    // The end of a killed daemon can be torn.
    flipInLastLine(folder)
    await (await host(folder)).end()
    assert.equal((await check()).stopped_cleanly, true)
  })

  test('a daemon that is killed at any moment of its start leaves a store that opens', async () => {
    const folder = copy()
    for (const wait of [0, 40, 80, 120, 160]) {
      const child = spawnDaemon(folder)
      await new Promise(resolve => setTimeout(resolve, wait))
      child.kill('SIGKILL')
      await new Promise(resolve => child.once('close', resolve))
    }
    await (await host(folder)).end()
  })

  test('an older daemon, which does not know the record, may have written since: that is no damage', async () => {
    const folder = copy()
    const record = readFileSync(join(folder, cleanStopName))
    const daemon = await host(folder)
    await say(daemon, 'three')
    await daemon.end()
    writeFileSync(join(folder, cleanStopName), record)
    flipInLastLine(folder)
    await (await host(folder)).end()
  })

  test('a store without the record opens as before', async () => {
    const folder = copy()
    writeFileSync(join(folder, cleanStopName), 'not a record')
    flipInLastLine(folder)
    await (await host(folder)).end()
  })

  test('--from refuses a damaged store, too, and leaves no record in it', async () => {
    const folder = copy()
    const names = readdirSync(folder).sort()
    const other = await host(join(scratch, 'unused'), { flags: ['--memory', '--from', folder] })
    await other.end()
    assert.deepEqual(readdirSync(folder).sort(), names)
    flipInLastLine(folder)
    await assert.rejects(host(join(scratch, 'unused'), { flags: ['--memory', '--from', folder] }), damage)
  })

  test('a backup carries no record, and a restored store was stopped cleanly', async t => {
    const file = join(mkdtempSync(join(scratch, 'backup-')), 'natter.tar')
    await backupToFile(file, { folder: stopped, withoutSecret: false, now: new Date() })
    assert.ok(!readFileSync(file).includes(cleanStopName))
    const data = join(scratch, 'restored')
    assert.equal((await newShell(t).run(['restore', file, '--data', data])).code, 0)
    assert.ok(existsSync(join(data, cleanStopName)))
    flipInLastLine(data)
    await assert.rejects(host(data), damage)
    // The record goes with the store that it is about.
    assert.equal((await newShell(t).run(['restore', file, '--data', data, '--replace'])).code, 0)
    await (await host(data)).end()
  })
})

async function say(daemon: TestDaemon, content: string): Promise<void> {
  await daemon.owner.call(messages.send, { type: 'direct', to: [daemon.ready.owner.user_id], content })
}
