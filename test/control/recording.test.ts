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
  let text = String((await reading).value)
  for await (const piece of lines) text += piece
  const all = text.trimEnd().split('\n')
  assert.ok(all.length > 10 && all.length < 80, `${all.length} lines`)
  assert.deepEqual(JSON.parse(all.at(-1)!), { cut: all.length - 1 })
})
