// Flags that people set on messages: read, starred, collapsed.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { messageFlags as flags } from '../../../daemon/api/messages/message-flags.ts'
import { messages as api } from '../../../daemon/api/messages/messages.ts'
import { unreadIds } from '../../../daemon/domain/messages/message-flags/unread.ts'
import { sharedDaemon } from '../../support/daemon.ts'
import { threePeople } from '../../support/domain-world.ts'
import { direct, listen, people } from '../../support/world.ts'

const daemon = sharedDaemon()

describe('POST /messages/flags', () => {
  test('changes only what is not so already, and says which', async () => {
    const [oda, pam] = await people(daemon(), 'oda', 'pam')
    const ids = [await direct(oda, pam, 'a'), await direct(oda, pam, 'b'), await direct(oda, pam, 'c')]
    const events = await listen(pam, ['update_message_flags'])
    const add = await pam.call(flags.update, { messages: [ids[1]!, ids[0]!], op: 'add', flag: 'starred' })
    assert.deepEqual(add, { result: 'success', msg: '', messages: [ids[0], ids[1]] })
    const again = await pam.call(flags.update, { messages: ids, op: 'add', flag: 'starred' })
    assert.deepEqual(again.messages, [ids[2]])
    await pam.call(flags.update, { messages: [ids[0]!], op: 'add', flag: 'read' })
    const unread = await pam.call(flags.update, { messages: ids, op: 'remove', flag: 'read' })
    assert.deepEqual(unread.messages, [ids[0]])
    assert.deepEqual(unread.ignored_because_not_subscribed_channels, [])
    const heard = await events()
    assert.deepEqual(
      heard.map(({ op, flag, messages }) => [op, flag, messages]),
      [
        // No one has read the first event meanwhile, so the second change joins it.
        ['add', 'starred', ids],
        ['add', 'read', [ids[0]]],
        ['remove', 'read', [ids[0]]],
      ],
    )
    assert.deepEqual(heard[2]!.message_details, { [ids[0]!]: { type: 'private', user_ids: [oda.id] } })
    const narrow = [
      ['is', 'starred'],
      ['sender', oda.email!],
    ]
    const { messages } = await pam.call(api.list, { anchor: 'newest', num_before: 9, narrow })
    assert.deepEqual(
      messages.map(message => message.id),
      ids,
    )
  })

  test('flags that follow from the message, unknown flags and messages of others are refused', async () => {
    const [quy, rae] = await people(daemon(), 'quy', 'rae')
    const id = await direct(quy, quy, 'private')
    for (const flag of ['mentioned', 'historical', 'wildcard_mentioned', 'nice'])
      await quy.refused(flags.update, { messages: [id], op: 'add', flag }, 'BAD_REQUEST')
    await rae.refused(flags.update, { messages: [id], op: 'add', flag: 'starred' }, 'BAD_REQUEST')
    await rae.refused(flags.update, { messages: [999_999], op: 'add', flag: 'starred' }, 'BAD_REQUEST')
    assert.deepEqual((await rae.call(flags.update, { messages: [id], op: 'add', flag: 'read' })).messages, [])
  })
})

describe('POST /messages/flags/narrow', () => {
  test('walks a narrow in batches', async () => {
    const [sam, tea] = await people(daemon(), 'sam', 'tea')
    const ids: number[] = []
    for (let i = 0; i < 5; i++) ids.push(await direct(sam, tea, `n${i}`))
    const narrow = [
      ['is', 'unread'],
      ['sender', sam.email!],
    ]
    const step = { include_anchor: false, narrow, op: 'add' as const, flag: 'read' }
    const first = await tea.call(flags.updateNarrow, { ...step, anchor: 'oldest', num_before: 0, num_after: 3 })
    assert.deepEqual(first, {
      result: 'success',
      msg: '',
      processed_count: 3,
      updated_count: 3,
      first_processed_id: ids[0],
      last_processed_id: ids[2],
      found_oldest: true,
      found_newest: false,
    })
    const rest = { ...step, anchor: String(first.last_processed_id), num_before: 0, num_after: 3 }
    assert.equal((await tea.call(flags.updateNarrow, rest)).updated_count, 2)
    const none = await tea.call(flags.updateNarrow, rest)
    assert.deepEqual([none.processed_count, none.first_processed_id, none.found_newest], [0, null, true])
    await tea.refused(flags.updateNarrow, { ...rest, anchor: 'x' }, 'BAD_REQUEST')
    await tea.refused(flags.updateNarrow, { ...rest, narrow: [['is', 'odd']] }, 'BAD_NARROW')
  })
})

describe('POST /mark_all_as_read', () => {
  test('leaves nothing unread', async () => {
    const [una, vic] = await people(daemon(), 'una', 'vic')
    await direct(una, vic, 'x')
    const events = await listen(vic, ['update_message_flags'])
    assert.equal((await vic.call(flags.markAll, {})).complete, true)
    const [event] = await events()
    assert.deepEqual([event!.all, event!.messages], [true, []])
    const { messages } = await vic.call(api.list, { anchor: 'newest', num_before: 9, narrow: [['is', 'unread']] })
    assert.deepEqual(messages, [])
    await vic.refused(flags.markChannel, { stream_id: 999 }, 'BAD_REQUEST')
    await vic.refused(flags.markTopic, { stream_id: 999, topic_name: 'x' }, 'BAD_REQUEST')
  })
})

describe('flags in channels', () => {
  test('what is not subscribed cannot be unread, but starred', () => {
    const { world: w, amy, bob } = threePeople()
    const general = w.channel('general', [amy, bob])
    const id = w.send(amy, general, 'x', 'one')
    w.unsubscribe(bob, general)
    const later = w.send(amy, general, 'x', 'two')
    const unread = w.run(bob, 'update-message-flags', { messages: [id, later], op: 'remove', flag: 'read' })
    assert.deepEqual(unread, { messages: [], ignored_because_not_subscribed_channels: [general.id] })
    assert.deepEqual(w.run(bob, 'update-message-flags', { messages: [later], op: 'add', flag: 'starred' }).messages, [
      later,
    ])
    const { message } = w.run(bob, 'get-message', { message_id: later })
    assert.deepEqual(message.flags, ['read', 'starred', 'historical'])
    w.subscribe(bob, general)
    w.run(bob, 'update-message-flags', { messages: [id, later], op: 'remove', flag: 'read' })
    assert.deepEqual(unreadIds(w.state, bob.id), [later, id])
    w.run(bob, 'mark-topic-as-read', { stream_id: general.id, topic_name: 'X' })
    assert.deepEqual(unreadIds(w.state, bob.id), [])
    assert.equal(
      w.refused(bob, 'mark-topic-as-read', { stream_id: general.id, topic_name: 'none' }).code,
      'BAD_REQUEST',
    )
  })
})
