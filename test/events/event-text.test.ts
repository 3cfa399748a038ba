// The shared text of an event: written once, numbered by every queue, read back without loss.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { addFields, heartbeat, numberEvent, readEvent, writeEvent } from '../../daemon/events/event-text.ts'

/** As an event has them: JSON values under names that are not `id`. */
const fields = fc
  .dictionary(fc.string(), fc.jsonValue())
  .map(given => JSON.parse(JSON.stringify({ ...given, id: undefined, type: 'message' })) as Record<string, unknown>)

describe('the text of an event', () => {
  test('reads back as the event that was written', () => {
    fc.assert(fc.property(fields, event => assert.deepEqual(readEvent(writeEvent(event)), event)))
  })

  test('becomes JSON that begins with the ID of the queue', () => {
    fc.assert(
      fc.property(fc.nat(), fields, (id, event) => {
        const json = numberEvent(id, writeEvent(event))
        assert.ok(json.startsWith(`{"id":${id},`))
        assert.deepEqual(JSON.parse(json), { ...event, id })
      }),
    )
  })

  test('takes further fields, and keeps its own where both have one', () => {
    const text = addFields({ local_id: '7.01', type: 'other' }, writeEvent({ type: 'message', flags: [] }))
    assert.deepEqual(readEvent(text), { local_id: '7.01', type: 'message', flags: [] })
    assert.deepEqual(JSON.parse(numberEvent(3, heartbeat)), { id: 3, type: 'heartbeat' })
  })
})
