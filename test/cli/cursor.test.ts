// `natter tail --cursor`, killed at any moment: what a kill cannot take away, and what it may repeat.

import assert from 'node:assert/strict'
import type { ChildProcess } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { CursorFile } from '../../cli/commands/follow/tail/cursor.ts'
import { accountAt, exitOf, newShell, type Shell, Watched } from '../support/cli.ts'
import { startDaemon } from '../support/daemon.ts'
import { fakeChat } from '../support/fake-chat.ts'
import { until } from '../support/until.ts'

/** Bytes of one write, which a pipe takes whole or not at all. */
const piece = 4096

describe('natter tail --cursor, killed', () => {
  test('loses nothing, breaks no line, and repeats at most the piece that was being written', async t => {
    const chat = await fakeChat(t)
    const shell = newShell(t, chat.env)
    const words = ['tail', '--cursor', 'place', '--json']
    await begin(t, shell, words)
    const total = 2000
    for (let i = 1; i <= total; i++) chat.say(`message ${i} ${'x'.repeat(i % 300)}`)
    const seen: number[] = []
    let kills = 0
    while (seen.at(-1) !== total) {
      const text = await untilKilled(shell.spawn([...words, '--until', `/message ${total} /`]), Math.random() * 150_000)
      assert.ok(text === '' || text.endsWith('\n'), 'a line is whole')
      const lines = text.split('\n').slice(0, -1)
      const ids = lines.map(line => JSON.parse(line).message.id as number)
      const again = lines.filter((_, index) => ids[index]! <= (seen.at(-1) ?? 0))
      assert.ok(Buffer.byteLength(again.join('\n')) <= piece, `${again.length} lines came again`)
      const fresh = ids.slice(again.length)
      assert.deepEqual(
        fresh,
        fresh.map((_, index) => (seen.at(-1) ?? 0) + 1 + index),
        'one after the other',
      )
      seen.push(...fresh)
      kills++
    }
    assert.ok(kills > 2, `killed ${kills} times`)
  })

  test('saves a position past events that its filters leave out', async t => {
    const daemon = await startDaemon(t)
    const { email, api_key } = daemon.ready.owner
    const shell = newShell(t, accountAt(daemon.url, email, api_key))
    assert.equal((await shell.run(['subscribe', 'ops'])).code, 0)
    const say = (topic: string) => shell.run(['send', `#ops>${topic}`, `about ${topic}`])
    const words = ['tail', '--cursor', 'place', '--channel', 'ops', '--sender', 'me', '--narrow', 'channel:ops']
    const only = [...words, '--topic', 'wanted', '--topic', 'needed', '--jq', '.message.content']
    const tail = new Watched(t, shell.spawn(only))
    await tail.said(/ready/)
    const place = () => /"last_event_id":(\d+)/.exec(readFileSync(join(shell.home, 'place'), 'utf8'))?.[1]
    for (const topic of ['other', 'other', 'more']) await say(topic)
    await until(place)
    await say('other')
    tail.child.kill('SIGKILL')
    await tail.ended
    await say('wanted')
    const again = await shell.run([...only, '--count', '1', '--within', '2m'])
    assert.deepEqual([again.code, again.stdout], [0, 'about wanted\n'], again.stderr)
  })

  test('repeats nothing after a normal end', async t => {
    const chat = await fakeChat(t)
    const shell = newShell(t, chat.env)
    const words = ['tail', '--cursor', 'place', '--json']
    await begin(t, shell, words)
    const total = 3000
    for (let i = 1; i <= total; i++) chat.say(`message ${i}`)
    const counted = await shell.run([...words, '--count', '100'])
    const tail = new Watched(t, shell.spawn(words))
    await tail.until(5)
    tail.child.kill('SIGINT')
    assert.equal(await tail.ended, 130)
    // The one that was ended may have read everything.
    chat.say('the last message')
    const rest = await shell.run([...words, '--until', 'the last message'])
    const lines = [...counted.stdout.trim().split('\n'), ...tail.lines, ...rest.stdout.split('\n').slice(0, -1)]
    assert.deepEqual(
      lines.map(line => JSON.parse(line).message.id),
      Array.from({ length: total + 1 }, (_, index) => index + 1),
    )
  })
})

test('a cursor with letters beyond ASCII does not grow with every line', t => {
  const file = join(newShell(t).home, 'place')
  const cursor = { queue_id: 'q', last_message_id: null, site: 'http://a', email: 'a@b', wants: 'channel Büro 日本語' }
  const cursorFile = new CursorFile(file)
  const sizes = [9, 10, 11, 12].map(last_event_id => {
    cursorFile.prepare({ ...cursor, last_event_id })()
    assert.deepEqual(JSON.parse(readFileSync(file, 'utf8')), { ...cursor, last_event_id })
    return statSync(file).size
  })
  assert.deepEqual([...new Set(sizes)], [sizes[0]])
})

/** Registers a queue and leaves a cursor that says so. */
async function begin(t: TestContext, shell: Shell, words: readonly string[]): Promise<void> {
  const tail = new Watched(t, shell.spawn(words))
  await tail.said(/ready/)
  tail.child.kill('SIGTERM')
  await tail.ended
}

/** What a child wrote before it was killed, after about this many bytes. */
async function untilKilled(child: ChildProcess, bytes: number): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  child.stdout!.on('data', (chunk: Buffer) => {
    chunks.push(chunk)
    size += chunk.length
    if (size >= bytes) child.kill('SIGKILL')
  })
  await exitOf(child)
  return Buffer.concat(chunks).toString('utf8')
}
