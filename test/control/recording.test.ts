// Recordings that fall behind.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Recordings } from '../../daemon/control/recording.ts'

test('a recording whose reader is too slow ends with a line that says so, not with that of a complete one', async () => {
  const recordings = new Recordings()
  const lines = recordings.read({})
  await lines.next()
  const reading = lines.next()
  const body = JSON.stringify({ content: 'x'.repeat(1024 * 1024) })
  for (let id = 1; id <= 80; id++) recordings.end({ id, sent: {} } as never, body)
  // One by one: together, 64 MiB wait for the reader.
  let count = 0
  let last = ''
  const take = (piece: string) => {
    const whole = piece.trimEnd().split('\n')
    count += whole.length
    last = whole.at(-1)!
  }
  take(String((await reading).value))
  for await (const piece of lines) take(piece)
  assert.ok(count > 10 && count < 80, `${count} lines`)
  assert.deepEqual(JSON.parse(last), { cut: count - 1 })
})
