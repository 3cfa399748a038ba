// Disks that are read-only, full, or fill up under a running daemon.

import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { savedSnippets } from '../../daemon/api/messages/saved-snippets.ts'
import { type Caller, host, launch, TestDaemon } from '../support/daemon.ts'
import { assertPlain, refusal } from '../support/gives-up.ts'
import { root } from '../support/sources.ts'

const scratch = mkdtempSync(join(tmpdir(), 'natter-disk-'))
const running: TestDaemon[] = []
after(() => {
  for (const daemon of running) daemon.process.kill('SIGKILL')
  rmSync(scratch, { recursive: true, force: true })
})

const newFolder = () => mkdtempSync(join(scratch, 'store-'))

describe('natterd refuses to start', () => {
  test('on a disk that is read-only', async t => {
    const data = mounted(t, ['-t', 'tmpfs', '-o', 'ro', 'natter-test'])
    if (data) assert.match(await refusal(data), /read-only/)
  })

  test('on a disk that is full', async t => {
    const data = mounted(t, ['-t', 'tmpfs', '-o', 'size=64k', 'natter-test'])
    if (!data) return
    try {
      writeFileSync(join(data, 'filling'), Buffer.alloc(1024 * 1024))
    } catch {}
    assert.match(await refusal(data), /no space is left/)
  })
})

describe('the disk fills up while the daemon runs', () => {
  test('writes get a clear error, the daemon ends with advice, and a restart has everything that was answered', async t => {
    const data = mounted(t, ['-t', 'tmpfs', '-o', 'size=256k', 'natter-test'])
    if (data) await fillUp(await launch(data), data)
  })

  test('the same where files may grow no further', async () => {
    const data = newFolder()
    // bash counts in blocks of 1024 bytes; node does not die of SIGXFSZ, it gets EFBIG.
    const command = `ulimit -f 64; exec "$0" "$@"`
    const args = [
      '-c',
      command,
      process.execPath,
      join(root, 'bin/natterd'),
      '--data',
      data,
      '--port',
      '0',
      '--json',
      '--no-profile',
    ]
    const child = spawn('bash', args, { stdio: ['ignore', 'pipe', 'pipe'] })
    let stderr = ''
    child.stderr.setEncoding('utf8').on('data', text => {
      stderr += text
    })
    const [line] = await once(child.stdout.setEncoding('utf8'), 'data')
    await fillUp(new TestDaemon(JSON.parse(line), data, { child, stderr: () => stderr }), data)
  })

  async function fillUp(daemon: TestDaemon, data: string): Promise<void> {
    running.push(daemon)
    const answered: number[] = []
    const refusals = await Promise.all(Array.from({ length: 4 }, () => writeUntilRefused(daemon.owner, answered)))
    for (const body of refusals) if (body) assert.equal(body.code, 'SERVER_NOT_READY', JSON.stringify(body))
    assert.ok(refusals.some(Boolean), 'nobody got a clear error')
    assert.equal(await daemon.closed, 1)
    assert.match(daemon.stderr, /the store cannot be written .*Free some space/s)
    assertPlain(daemon.stderr)
    // Where there is room: a copy, made while there are no writes.
    const copy = newFolder()
    cpSync(data, copy, { recursive: true })
    const again = await host(copy)
    const kept = new Set((await again.owner.call(savedSnippets.list, {})).saved_snippets.map(({ id }) => id))
    assert.ok(answered.length > 0)
    for (const id of answered) assert.ok(kept.has(id), `snippet ${id} was answered and is gone`)
    await again.stop()
  }

  async function writeUntilRefused(owner: Caller, answered: number[]): Promise<Record<string, unknown> | undefined> {
    const body = new URLSearchParams({ title: 'x', content: 'y'.repeat(5000) }).toString()
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' }
    for (let n = 0; n < 1000; n++) {
      const reply = await owner.raw('POST', '/api/v1/saved_snippets', { body, headers }).catch(() => undefined)
      // Cut off: the daemon has ended meanwhile.
      if (!reply) return undefined
      if (reply.body.result !== 'success') return reply.body
      answered.push(reply.body.saved_snippet_id)
    }
    throw new Error('the disk never filled up')
  }
})

describe('POST /user_uploads on a full disk', () => {
  test('is refused with a code and a sentence; the daemon goes on, and a smaller file fits', async t => {
    const data = mounted(t, ['-t', 'tmpfs', '-o', 'size=4m', 'natter-test'])
    if (!data) return
    const daemon = await launch(data)
    running.push(daemon)
    const upload = (bytes: number) => {
      const body = new FormData()
      body.append('file', new Blob([Buffer.alloc(bytes, 'x')]), 'large.txt')
      return fetch(`${daemon.url}/api/v1/user_uploads`, {
        method: 'POST',
        body,
        headers: { Authorization: `Basic ${Buffer.from(daemon.owner.auth!).toString('base64')}` },
      })
    }
    for (let n = 0; n < 3; n++) {
      const reply = await upload(8 * 1024 * 1024)
      const { code, msg } = (await reply.json()) as { code: string; msg: string }
      assert.deepEqual([reply.status, code], [507, 'STORAGE_FULL'], msg)
      assert.match(msg, /no room left for this file/)
    }
    assert.equal((await upload(1024 * 1024)).status, 200)
    assertPlain(daemon.stderr)
    // What did not fit left nothing behind.
    assert.deepEqual(readdirSync(join(data, 'files')).length, 1)
    let n = 0
    while ((await upload(100_000 + n++)).status === 200) assert.ok(n < 40)
    // The store goes on with what they have left.
    const { bavail, blocks } = statfsSync(data)
    assert.ok(bavail > blocks / 20, `${bavail} of ${blocks} blocks are free`)
    await daemon.owner.call(savedSnippets.create, { title: 'x', content: 'y'.repeat(5000) })
    await daemon.kill()
  })
})

/** A small file system of its own; where that is not permitted the test is skipped, and says so. */
function mounted(
  t: { skip(reason: string): void; after(undo: () => void): void },
  args: readonly string[],
): string | undefined {
  const folder = newFolder()
  const run = spawnSync('mount', [...args, folder], { encoding: 'utf8' })
  if (run.status !== 0) {
    t.skip('needs the right to mount a file system')
    return undefined
  }
  t.after(() => spawnSync('umount', ['-l', folder]))
  return folder
}
