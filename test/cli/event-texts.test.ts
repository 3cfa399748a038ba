// The reply of a poll, split into events while it arrives.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { EventTexts } from '../../cli/commands/follow/tail/event-texts.ts'
import { cases } from '../support/cases.ts'

describe('EventTexts', () => {
  test('finds the same events wherever an answer is cut into pieces', () => {
    const text = fc.oneof(fc.string(), fc.constantFrom('\\', '},{"id":1', '"events":[', '\\"},{', ']}', '{'))
    const message = fc.record({ id: fc.nat(), content: text, subject: text })
    const event = fc.oneof(
      message.map(message => ({ id: message.id, type: 'message', message, flags: [] })),
      fc.record({ type: text, id: fc.nat(), list: fc.array(fc.record({ id: fc.nat(), x: text })) }),
      fc.record({ id: fc.nat(), type: fc.constant('realm'), nested: fc.array(message) }),
    )
    // Short pieces, and such as come from a socket.
    const size = fc.oneof(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 2000, max: 6000 }))
    const answer = fc.tuple(fc.array(event, { maxLength: 60 }), fc.constantFrom(0, 0, 1), fc.array(size))
    fc.assert(
      fc.property(answer, ([events, indent, cuts]) => {
        const body = JSON.stringify({ result: 'success', msg: '', events, queue_id: 'q' }, null, indent)
        const reader = new EventTexts()
        const found = []
        let at = 0
        for (let i = 0; at < body.length; i++) {
          const size = cuts.length === 0 ? body.length : cuts[i % cuts.length]!
          found.push(...reader.push(body.slice(at, at + size)))
          at += size
        }
        reader.end()
        assert.deepEqual(
          found.map(({ event }) => event),
          JSON.parse(body).events,
        )
      }),
      { numRuns: cases(200) },
    )
  })

  test('refuses an answer that is not one of a chat server', () => {
    for (const body of ['<html>', '[]', '']) {
      const reader = new EventTexts()
      assert.throws(() => {
        reader.push(body)
        reader.end()
      }, /not a chat server/)
    }
    for (const body of ['5}', '[null]}', '[5', '[{"id":1}', '{}}']) {
      const reader = new EventTexts()
      assert.deepEqual(reader.push(`{"result":"success","events":${body}`).length, body.includes('1') ? 1 : 0)
      assert.throws(() => reader.end(), /answer to GET \/api\/v1\/events is not a list of events|not a chat server/)
    }
    const refused = new EventTexts()
    refused.push('{"result":"error","msg":"no such queue","code":"BAD_EVENT_QUEUE_ID"}')
    assert.throws(() => refused.end(), /no such queue/)
  })
})
