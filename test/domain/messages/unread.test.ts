// What `register` says about unread messages.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { User } from '../../../daemon/domain/model/state.ts'
import { type DomainWorld, threePeople } from '../../support/domain-world.ts'

function unreadSection(w: DomainWorld, user: User): unknown {
  return w.section(user, 'update_message_flags').unread_msgs
}

describe('unread_msgs', () => {
  test('lists what is unread by conversation', () => {
    const { world: w, amy, bob, cat } = threePeople()
    const general = w.channel('general', [amy, bob])
    const ids = [w.send(amy, general, 'B', 'x'), w.send(amy, general, 'b', '@**bob**'), w.send(amy, general, 'a', 'x')]
    const one = w.run(amy, 'send-message', { type: 'direct', to: [bob.id], content: 'x' }).id
    const group = w.run(amy, 'send-message', { type: 'direct', to: [bob.id, cat.id], content: 'x' }).id
    const sections = unreadSection(w, bob)
    assert.deepEqual(sections, {
      count: 5,
      pms: [{ other_user_id: amy.id, sender_id: amy.id, unread_message_ids: [one] }],
      streams: [
        { stream_id: general.id, topic: 'a', unread_message_ids: [ids[2]] },
        { stream_id: general.id, topic: 'b', unread_message_ids: [ids[0], ids[1]] },
      ],
      huddles: [{ user_ids_string: `${amy.id},${bob.id},${cat.id}`, unread_message_ids: [group] }],
      mentions: [ids[1]],
      old_unreads_missing: false,
    })
  })
})
