// Faults from outside a running daemon: its folder goes away, descriptors run out, it is stopped for a while,
// another one wants the same folder.

import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { events } from '../../daemon/api/events.ts'
import { savedSnippets } from '../../daemon/api/messages/saved-snippets.ts'
import { users } from '../../daemon/api/people/users.ts'
import { host, launch, TestDaemon } from '../support/daemon.ts'
import { assertPlain } from '../support/gives-up.ts'
import { root } from '../support/sources.ts'
import { until } from '../support/until.ts'

const scratch = mkdtempSync(join(tmpdir(), 'natter-faults-'))
const running = new Set<TestDaemon>()
after(() => {
  for (const daemon of running) daemon.process.kill('SIGKILL')
  rmSync(scratch, { recursive: true, force: true })
})

const newFolder = () => mkdtempSync(join(scratch, 'store-'))

async function started(data: string, ...flags: string[]): Promise<TestDaemon> {
  const daemon = await launch(data, { flags })
  running.add(daemon)
  return daemon
}

/** Titles of what was answered with success, in order. */
async function write(daemon: TestDaemon, title: string): Promise<boolean> {
  const body = new URLSearchParams({ title, content: 'x' }).toString()
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded' }
  const reply = await daemon.owner.raw('POST', '/api/v1/saved_snippets', { body, headers }).catch(() => undefined)
  if (reply && reply.body.result !== 'success') assert.equal(reply.body.code, 'SERVER_NOT_READY')
  return reply?.body.result === 'success'
}

async function endsWithoutItsFolder(daemon: TestDaemon): Promise<void> {
  assert.equal(await daemon.closed, 1)
  assert.match(daemon.stderr, /was deleted, moved or replaced.*choose another with --data/s)
  assertPlain(daemon.stderr)
}

describe('the folder of the store goes away under a running daemon', () => {
  test('deleted: no later write is answered with success, and the daemon ends with a sentence', async () => {
    const data = newFolder()
    const daemon = await started(data)
    assert.ok(await write(daemon, 'before'))
    rmSync(data, { recursive: true })
    for (let n = 0; n < 20; n++) assert.ok(!(await write(daemon, 'after')), 'a write was acknowledged into nothing')
    await endsWithoutItsFolder(daemon)
  })

  test('deleted while no one writes: the daemon notices by itself', async () => {
    const data = newFolder()
    const daemon = await started(data, '--durability', 'os')
    rmSync(data, { recursive: true })
    await endsWithoutItsFolder(daemon)
  })

  test('replaced: the daemon ends, and leaves the new store alone', async () => {
    const data = newFolder()
    const daemon = await started(data)
    await write(daemon, 'of the first')
    renameSync(data, `${data}-moved`)
    const other = await host(data)
    const journal = join(data, 'journal.ndjson')
    const { ino } = statSync(journal)
    daemon.process.kill('SIGUSR2')
    assert.ok(!(await write(daemon, 'too late')))
    await endsWithoutItsFolder(daemon)
    assert.equal(statSync(journal).ino, ino)
    assert.deepEqual(
      readdirSync(data).filter(name => /^state|journal-|tmp$/.test(name)),
      [],
    )
    assert.deepEqual((await other.owner.call(savedSnippets.list, {})).saved_snippets, [])
    await other.stop()
    // Where it was moved to, everything that was answered is there.
    const moved = await host(`${data}-moved`)
    const { saved_snippets } = await moved.owner.call(savedSnippets.list, {})
    assert.ok(saved_snippets.some(({ title }) => title === 'of the first'))
    await moved.stop()
  })

  test('the journal alone replaced, as an editor does it: no write is answered with success', async () => {
    const data = newFolder()
    const daemon = await started(data)
    const file = join(data, 'journal.ndjson')
    const text = readFileSync(file)
    writeFileSync(`${file}.new`, text)
    renameSync(`${file}.new`, file)
    assert.ok(!(await write(daemon, 'after')))
    await endsWithoutItsFolder(daemon)
  })
})

describe('descriptors run out', () => {
  test('a compaction that gets none is put off, nothing is lost, and the daemon goes on', async () => {
    const data = newFolder()
    const limit = 64
    const command = `ulimit -n ${limit}; exec "$0" "$@"`
    const args = ['--data', data, '--port', '0', '--json', '--no-profile']
    const child = spawn('bash', ['-c', command, process.execPath, join(root, 'bin/natterd'), ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let stderr = ''
    child.stderr.setEncoding('utf8').on('data', text => {
      stderr += text
    })
    const [line] = await once(child.stdout.setEncoding('utf8'), 'data')
    const daemon = new TestDaemon(JSON.parse(line), data, { child, stderr: () => stderr })
    running.add(daemon)
    assert.ok(await write(daemon, 'before'))
    // One connection of ours stays; idle ones take all the other descriptors.
    const { port, hostname } = new URL(daemon.url)
    const descriptors = () => readdirSync(`/proc/${child.pid}/fd`).length
    const idle: Socket[] = []
    const isFull = async () => {
      const socket = connect(Number(port), hostname)
      socket.on('error', () => {})
      idle.push(socket)
      return descriptors() >= limit || idle.length > 2 * limit
    }
    await until(isFull)
    child.kill('SIGUSR2')
    await until(
      () => stderr.includes('compaction failed') || existsSync(join(data, 'state.json')) || child.exitCode !== null,
    )
    // Writes need no descriptor: connected clients continue. The owner is not connected, so this comes after the others have left.
    for (const socket of idle) socket.destroy()
    assert.equal(child.exitCode, null, stderr)
    await until(async () => descriptors() < limit / 2)
    assert.ok(await write(daemon, 'after'))
    await daemon.compact()
    await daemon.kill()
    const again = await host(data)
    const { saved_snippets } = await again.owner.call(savedSnippets.list, {})
    assert.deepEqual(
      saved_snippets.map(({ title }) => title),
      ['before', 'after'],
    )
    await again.stop()
  })
})

describe('the daemon is stopped for a while and continued', () => {
  // `npm run prove -- stop` stops it for 30 seconds, under load and with a queue whose time runs out meanwhile.
  test('a poll that waited is still answered, and writes go on', async () => {
    const daemon = await started(newFolder(), '--heartbeat', '1')
    const { owner } = daemon
    const { queue_id } = await owner.call(events.register, {})
    const poll = owner.call(events.get, { queue_id, last_event_id: -1 })
    await owner.call(users.me, {})
    daemon.process.kill('SIGSTOP')
    const waiting = write(daemon, 'while it was stopped')
    // Longer than until the heartbeat is due.
    await sleep(1500)
    daemon.process.kill('SIGCONT')
    assert.ok(await waiting)
    assert.ok((await poll).events.length > 0)
    assert.ok(await write(daemon, 'after'))
    await daemon.stop()
  })
})

describe('a second daemon in another container', () => {
  test('is refused, though it cannot see the network of the first; kill -9 of the first lets it in', async t => {
    const data = newFolder()
    const daemon = await started(data)
    const args = [
      '-n',
      process.execPath,
      join(root, 'bin/natterd'),
      '--data',
      data,
      '--port',
      '0',
      '--json',
      '--no-profile',
    ]
    if (spawnSync('unshare', ['-n', 'true']).status !== 0) return t.skip('needs the right to make a network namespace')
    const refused = spawnSync('unshare', args, { encoding: 'utf8', timeout: 60_000 })
    assert.equal(refused.status, 1, refused.stderr)
    assert.match(refused.stderr, /in use by another natterd/)
    assertPlain(refused.stderr)
    assert.ok(await write(daemon, 'still here'))
    await daemon.kill()
    const child = spawn('unshare', args, { stdio: ['ignore', 'pipe', 'inherit'] })
    await once(child.stdout, 'data')
    child.kill('SIGTERM')
    assert.deepEqual(await once(child, 'exit'), [0, null])
  })
})

describe('the daemon is killed while it compacts', () => {
  test('the next start has everything that was answered', async () => {
    const data = newFolder()
    const answered = new Set<string>()
    for (let round = 0; round < 4; round++) {
      const daemon = await started(data)
      let isOver = false
      const writers = [1, 2, 3].map(async writer => {
        for (let n = 0; !isOver; n++) {
          const title = `${round}-${writer}-${n}`
          if (await write(daemon, title)) answered.add(title)
        }
      })
      // Somewhere between the seal and the end of the snapshot: each round a little later.
      const before = answered.size
      await until(() => answered.size > before + 20)
      daemon.process.kill('SIGUSR2')
      const later = answered.size + 8 * round
      await until(() => answered.size > later)
      await daemon.kill()
      isOver = true
      await Promise.all(writers)
    }
    const daemon = await host(data)
    const kept = (await daemon.owner.call(savedSnippets.list, {})).saved_snippets.map(({ title }) => title)
    const missing = [...answered].filter(title => !kept.includes(title))
    assert.deepEqual(missing, [])
    await daemon.stop()
  })
})
