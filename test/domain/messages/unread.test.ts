// Unread messages in the reply of `register`.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { unreadIds } from '../../../daemon/domain/messages/message-flags/unread.ts'
import { isUnread } from '../../../daemon/domain/model/message-reader.ts'
import type { User } from '../../../daemon/domain/model/state.ts'
import { type DomainWorld, threePeople } from '../../support/domain-world.ts'

function unreadSection(w: DomainWorld, user: User): unknown {
  return w.section(user, 'update_message_flags').unread_msgs
}

describe('unread_msgs', () => {
  test('lists what is unread by conversation', () => {
    const { world: w, amy, bob, cat } = threePeople()
    const general = w.channel('general', [amy, bob])
    const sent = [
      ['B', 'x'],
      ['b', '@**bob**'],
      ['a', 'x'],
      ['B', 'x'],
    ] as const
    const ids = sent.map(([topic, content]) => w.send(amy, general, topic, content))
    const one = w.run(amy, 'send-message', { type: 'direct', to: [bob.id], content: 'x' }).id
    const group = w.run(amy, 'send-message', { type: 'direct', to: [bob.id, cat.id], content: 'x' }).id
    const sections = unreadSection(w, bob)
    assert.deepEqual(sections, {
      count: 6,
      pms: [{ other_user_id: amy.id, sender_id: amy.id, unread_message_ids: [one] }],
      streams: [
        { stream_id: general.id, topic: 'a', unread_message_ids: [ids[2]] },
        { stream_id: general.id, topic: 'B', unread_message_ids: [ids[0], ids[1], ids[3]] },
      ],
      huddles: [{ user_ids_string: `${amy.id},${bob.id},${cat.id}`, unread_message_ids: [group] }],
      mentions: [ids[1]],
      old_unreads_missing: false,
    })
  })
})

describe('the newest unread messages', () => {
  test('are the same for every limit as without one, whether the reader has all messages or few', () => {
    const { world: w, amy, bob, cat } = threePeople()
    const channels = ['one', 'two', 'three'].map(name => w.channel(name, [amy, bob]))
    const elsewhere = w.channel('elsewhere', [amy, cat])
    const compare = (share: string) => {
      const { messages } = w.state
      for (const reader of [bob, cat]) {
        const all = Array.from({ length: messages.lastId }, (_, i) => messages.lastId - i)
        const wanted = all.filter(id => messages.has(id) && isUnread(w.state, reader.id, id))
        assert.deepEqual(unreadIds(w.state, reader.id), wanted, share)
        for (let limit = 0; limit <= wanted.length + 1; limit++)
          assert.deepEqual(unreadIds(w.state, reader.id, limit), wanted.slice(0, limit), `${share}: ${limit}`)
      }
    }
    const ids = Array.from({ length: 24 }, (_, i) => w.send(amy, channels[i % 3]!, `t${i % 4}`, 'x'))
    for (const to of [[bob.id], [bob.id, cat.id]]) w.run(amy, 'send-message', { type: 'direct', to, content: 'x' })
    compare('bob has all')
    const flags = (op: 'add' | 'remove', messages: number[]) =>
      w.run(bob, 'update-message-flags', { messages, op, flag: 'read' })
    flags('add', ids.slice(10, 20))
    compare('bob has all, and read some')
    for (let i = 0; i < 40; i++) w.send(amy, elsewhere, 't', 'x')
    compare('bob has few')
    w.unsubscribe(bob, channels[0]!)
    w.send(amy, channels[0]!, 't', 'while bob is away')
    w.subscribe(bob, channels[0]!)
    flags('remove', [ids[0]!, ids[12]!])
    compare('bob marked some unread, one of a time before he came back')
  })

  test('puts the spellings of a topic together in one pass', t => {
    const { world: w, amy, bob } = threePeople()
    const general = w.channel('general', [amy, bob])
    const spellings = Array.from({ length: 64 }, (_, n) =>
      [...'abcdef'].map((letter, bit) => ((n >> bit) & 1 ? letter.toUpperCase() : letter)).join(''),
    )
    const ids = [...spellings, ...spellings].map(topic => w.send(amy, general, topic, 'x'))
    const { sort } = Array.prototype
    let sorts = 0
    const counting = function (this: unknown[], ...given: Parameters<typeof sort>) {
      sorts++
      return sort.apply(this, given)
    }
    t.after(() => Object.assign(Array.prototype, { sort }))
    Object.assign(Array.prototype, { sort: counting })
    const { streams } = unreadSection(w, bob) as { streams: unknown[] }
    assert.deepEqual(streams, [{ stream_id: general.id, topic: spellings.at(-1), unread_message_ids: ids }])
    assert.ok(sorts < 20, `${sorts} lists were put in order`)
  })
})
