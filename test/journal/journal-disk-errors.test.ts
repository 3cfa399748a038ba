// A disk that reports errors (EIO) to a real daemon: what was answered is kept, and what could not be written is not confirmed.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { savedSnippets } from '../../daemon/api/messages/saved-snippets.ts'
import { host, launch, type TestDaemon } from '../support/daemon.ts'
import { assertPlain } from '../support/gives-up.ts'
import { until } from '../support/until.ts'

const scratch = mkdtempSync(join(tmpdir(), 'natter-eio-'))
const running: TestDaemon[] = []
after(() => {
  for (const daemon of running) daemon.process.kill('SIGKILL')
  rmSync(scratch, { recursive: true, force: true })
})

// The name of an open file is looked up in /proc.
describe('the disk reports an error', { skip: process.platform !== 'linux' }, () => {
  for (const [call, what] of [
    ['write', 'a write of the journal'],
    ['fdatasync', 'a sync of the journal'],
  ] as const)
    test(`for ${what}: no one gets a success for it, the daemon ends with advice, and a restart has all that was answered`, async () => {
      const { daemon, data, fail } = await onFailingDisk()
      await daemon.owner.call(savedSnippets.create, { title: 'before', content: 'x' })
      fail(call, 'journal.ndjson')
      const replies = await Promise.all(Array.from({ length: 8 }, (_, n) => write(daemon, `during ${n}`)))
      for (const reply of replies) assert.notEqual(reply?.body.result, 'success')
      const told = replies.filter(reply => reply !== undefined)
      assert.ok(told.length > 0, 'nobody got a clear error')
      for (const { body } of told) assert.equal(body.code, 'SERVER_NOT_READY')
      assert.equal(await daemon.closed, 1)
      assert.match(daemon.stderr, /the store cannot be written \(EIO.*repair the disk/s)
      assertPlain(daemon.stderr)
      const again = await host(data)
      const titles = await titlesOf(again)
      assert.ok(titles.includes('before'))
      await again.stop()
    })

  test('and does not answer another call: the daemon ends all the same', async () => {
    const { daemon, data, fail } = await onFailingDisk()
    execFileSync('mkfifo', [`${data}-pipe`])
    fail('write', `journal.ndjson ${data}-pipe`)
    assert.notEqual((await write(daemon, 'during'))?.body.result, 'success')
    await until(() => daemon.process.signalCode === 'SIGKILL')
    assert.match(daemon.stderr, /the store cannot be written \(EIO/)
  })

  for (const [call, file] of [
    ['write', 'state.json'],
    ['fdatasync', 'state.json'],
    ['write', 'journal-'],
  ] as const)
    test(`while it compacts (${call} of ${file}…): the daemon warns and goes on, and nothing is lost`, async () => {
      const { daemon, data, fail, mend } = await onFailingDisk()
      await daemon.owner.call(savedSnippets.create, { title: 'before', content: 'x' })
      fail(call, file)
      daemon.process.kill('SIGUSR2')
      await until(() => daemon.stderr.includes('compaction failed: EIO'))
      assertPlain(daemon.stderr)
      assert.ok(!existsSync(join(data, 'state.json')), 'a snapshot that was not written must not be there')
      await daemon.owner.call(savedSnippets.create, { title: 'during', content: 'x' })
      mend()
      await daemon.compact()
      await daemon.owner.call(savedSnippets.create, { title: 'after', content: 'x' })
      await daemon.kill()
      const again = await host(data)
      assert.deepEqual(await titlesOf(again), ['before', 'during', 'after'])
      await again.stop()
    })
})

async function onFailingDisk() {
  const data = mkdtempSync(join(scratch, 'store-'))
  const orders = `${data}-orders`
  const hook = pathToFileURL(join(import.meta.dirname, '../support/failing-disk.mjs'))
  const env = { NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --import ${hook}`, NATTER_TEST_FAILING: orders }
  const daemon = await started(data, env)
  return {
    daemon,
    data,
    fail: (call: string, file: string) => writeFileSync(orders, `${call} ${file}`),
    mend: () => rmSync(orders),
  }
}

async function started(data: string, env: Record<string, string> = {}): Promise<TestDaemon> {
  const daemon = await launch(data, { env })
  running.push(daemon)
  return daemon
}

/** undefined: cut off, because the daemon has ended meanwhile. */
function write(daemon: TestDaemon, title: string) {
  const body = new URLSearchParams({ title, content: 'x' }).toString()
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded' }
  return daemon.owner.raw('POST', '/api/v1/saved_snippets', { body, headers }).catch(() => undefined)
}

async function titlesOf(daemon: TestDaemon): Promise<string[]> {
  return (await daemon.owner.call(savedSnippets.list, {})).saved_snippets.map(({ title }) => title)
}
