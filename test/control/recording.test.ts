// Recordings that fall behind.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Recordings } from '../../daemon/control/recording.ts'

test('a recording whose reader is too slow ends with a line that says so, not with that of a complete one', async () => {
  const recordings = new Recordings()
  const lines = recordings.read({})
  await lines.next()
  for (let id = 1; id <= 80; id++) recordings.end(callOf(id, 1), undefined)
  const all = await readLines(lines)
  assert.ok(all.length > 10 && all.length < 80, `${all.length} lines`)
  assert.deepEqual(all.at(-1), { cut: all.length - 1 })
})

test('a recording that begins after the end of its world has its last line at once', async () => {
  const recordings = new Recordings()
  recordings.close()
  assert.deepEqual((await readLines(recordings.read({}))).at(-1), { end: 0 })
})

test('all recordings together hold so much; the slowest are cut, and one that is read goes on', async () => {
  const recordings = new Recordings()
  const slow = [recordings.read({}), recordings.read({})]
  for (const lines of slow) await lines.next()
  const read = readLines(recordings.read({}))
  for (let id = 1; id <= 3; id++) {
    await nextTurn()
    recordings.end(callOf(id, 15), undefined)
  }
  await nextTurn()
  recordings.stop()
  assert.deepEqual((await read).at(-1), { end: 3 })
  const last = (await Promise.all(slow.map(readLines))).map(lines => lines.at(-1))
  assert.deepEqual(last, [{ cut: 1 }, { cut: 2 }])
})

test('what calls were sent is held until they are answered, and cut as in the log of calls where it is too much', async () => {
  const recordings = new Recordings()
  const read = readLines(recordings.read({}))
  const [content, other] = ['x'.repeat(40 * 1024 * 1024), 'y'.repeat(30 * 1024 * 1024)]
  const calls = [callOf(1, 0), callOf(2, 0), callOf(3, 0)]
  recordings.know(calls[0]!, [['content', content]])
  recordings.know(calls[1]!, [['content', other]])
  recordings.end(calls[0]!, undefined)
  recordings.know(calls[2]!, [['content', other]])
  for (const call of [calls[1]!, calls[2]!, calls[0]!]) {
    recordings.end(call, undefined)
    await nextTurn()
  }
  recordings.stop()
  const sent = (await read).slice(1, -1).map(line => (line.sent as { content?: string }).content?.length)
  assert.deepEqual(sent, [content.length, undefined, other.length, undefined])
})

/** A call whose line has so many MiB. */
function callOf(id: number, size: number): Parameters<Recordings['end']>[0] {
  return { id, sent: {}, user_agent: 'a'.repeat(size * 1024 * 1024) } as never
}

async function readLines(pieces: AsyncIterable<string | Buffer>): Promise<Record<string, unknown>[]> {
  const read: Buffer[] = []
  for await (const piece of pieces) read.push(Buffer.from(piece))
  const lines = Buffer.concat(read).toString().trimEnd().split('\n')
  return lines.map(line => JSON.parse(line))
}
