// Messages between people: what the specification says of sending, reading, changing and deleting them.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { events } from '../../../daemon/api/events.ts'
import { messageFlags as flags } from '../../../daemon/api/messages/message-flags.ts'
import { messages as api } from '../../../daemon/api/messages/messages.ts'
import { HtmlDifferences } from '../../../daemon/domain/messages/messages/html-differences.ts'
import { Replay } from '../../../daemon/replay.ts'
import { sharedDaemon } from '../../support/daemon.ts'
import { everyKind } from '../../support/every-fact.ts'
import { direct, listen, people } from '../../support/world.ts'

const daemon = sharedDaemon()
const sha = 'a'.repeat(64)

describe('POST /messages', () => {
  test('a direct message reaches everyone in it, in the form their client asked for', async () => {
    const [amy, bob, cat] = await people(daemon(), 'amy', 'bob', 'cat')
    const events = await listen(bob, ['message'])
    const others = await listen(cat, ['message'])
    const id = await direct(amy, bob, 'Hello **Bob**, @**bob example**\n\n')
    const [event, ...more] = await events()
    assert.deepEqual(more, [])
    assert.deepEqual(await others(), [])
    assert.deepEqual(event!.flags, ['mentioned'])
    const { timestamp, ...message } = event!.message
    assert.deepEqual(message, {
      id,
      type: 'private',
      subject: '',
      content: 'Hello **Bob**, @**bob example**',
      content_type: 'text/x-markdown',
      display_recipient: [
        { id: amy.id, email: amy.email, full_name: 'amy example', is_mirror_dummy: false },
        { id: bob.id, email: bob.email, full_name: 'bob example', is_mirror_dummy: false },
      ],
      recipient_id: message.recipient_id,
      sender_id: amy.id,
      sender_email: amy.email,
      sender_full_name: 'amy example',
      sender_realm_str: '',
      avatar_url: message.avatar_url,
      client: message.client,
      is_me_message: false,
      reactions: [],
      submessages: [],
      topic_links: [],
    })
    const back = await direct(bob, amy, 'Hi')
    const reply = await amy.call(api.get, { message_id: back })
    assert.equal(reply.message.recipient_id, message.recipient_id)
    await cat.refused(api.get, { message_id: id }, 'BAD_REQUEST')
  })

  test('at most 300 people are named by IDs, by emails, or by emails separated by commas, never mixed', async () => {
    const [dan, eve] = await people(daemon(), 'dan', 'eve')
    for (const to of [[eve.id], [eve.email], `${eve.email}, ${dan.email}`, [eve.id, eve.id, dan.id]]) {
      const { id } = await dan.call(api.send, { type: 'private', to: to as never, content: 'x' })
      const { message } = await eve.call(api.get, { message_id: id })
      assert.equal((message.display_recipient as unknown[]).length, 2)
    }
    for (const to of [eve.id, [], [eve.id, eve.email], [999_999], ['nobody@example.com']])
      await dan.refused(api.send, { type: 'direct', to, content: 'x' }, 'BAD_REQUEST')
    const { msg } = await dan.refused(
      api.send,
      { type: 'direct', to: Array(301).fill(eve.id), content: 'x' },
      'BAD_REQUEST',
    )
    assert.match(msg, /^to: must name at most 300 recipients/)
  })

  test('content is trimmed, cut to the limit, and never empty', async () => {
    const { owner } = daemon()
    const { id } = await owner.call(api.send, { type: 'direct', to: [owner.id], content: `\n\n${'🎈'.repeat(10_001)}` })
    const { raw_content } = await owner.call(api.get, { message_id: id })
    assert.equal([...raw_content].length, 10_000)
    assert.match(raw_content, /^🎈.*\n\[message truncated\]$/su)
    await owner.refused(api.send, { type: 'direct', to: [owner.id], content: ' \n ' }, 'BAD_REQUEST')
  })

  test('only the queue named hears the local ID', async () => {
    const { owner } = daemon()
    const register = () => owner.call(events.register, { event_types: ['message'] })
    const [one, two] = [await register(), await register()]
    await owner.call(api.send, {
      type: 'direct',
      to: [owner.id],
      content: 'x',
      queue_id: one.queue_id,
      local_id: '7.1',
    })
    const heard = async (queue_id: string) =>
      (await owner.call(events.get, { queue_id, last_event_id: -1, dont_block: true })).events as any[]
    assert.equal((await heard(one.queue_id))[0].local_message_id, '7.1')
    assert.equal('local_message_id' in (await heard(two.queue_id))[0], false)
  })

  test('what its sender sends from an app for people is read by them', async () => {
    const { owner } = daemon()
    const send = (more: object) =>
      owner.call(api.send, { type: 'direct', to: [owner.id], content: 'x', ...more } as never)
    const shown = async (id: number) => (await owner.call(api.get, { message_id: id })).message.flags
    assert.deepEqual(await shown((await send({})).id), [])
    assert.deepEqual(await shown((await send({ read_by_sender: true })).id), ['read'])
  })

  test('an unknown channel is named in the refusal', async () => {
    const { owner } = daemon()
    const send = { type: 'channel', topic: 'x', content: 'x' }
    const byName = await owner.refused(api.send, { ...send, to: 'nowhere' }, 'STREAM_DOES_NOT_EXIST')
    assert.equal(byName.stream, 'nowhere')
    const byId = await owner.refused(api.send, { ...send, to: 999 }, 'STREAM_DOES_NOT_EXIST')
    assert.equal(byId.stream_id, 999)
  })
})

describe('GET /messages', () => {
  test('ranges around every kind of anchor', async () => {
    const [fay, gus] = await people(daemon(), 'fay', 'gus')
    const ids: number[] = []
    for (let i = 0; i < 10; i++) ids.push(await direct(fay, gus, `number ${i}`))
    const get = async (params: object) => {
      const narrow = [['sender', fay.email!]]
      const { messages, result: _, msg: __, ...rest } = (await gus.call(api.list, { narrow, ...params })) as any
      return { ...rest, ids: messages.map((message: { id: number }) => ids.indexOf(message.id)) }
    }
    const found = { found_anchor: false, found_oldest: false, found_newest: true, history_limited: false }
    assert.deepEqual(await get({ anchor: 'newest', num_before: 3 }), { ...found, anchor: 1e16, ids: [7, 8, 9] })
    assert.deepEqual(await get({ anchor: 'oldest', num_after: 2 }), {
      ...found,
      anchor: 0,
      ids: [0, 1],
      found_oldest: true,
      found_newest: false,
    })
    assert.deepEqual(await get({ anchor: String(ids[4]), num_before: 1, num_after: 1 }), {
      ...found,
      anchor: ids[4],
      ids: [3, 4, 5],
      found_anchor: true,
      found_newest: false,
    })
    const without = await get({ anchor: String(ids[4]), num_after: 2, include_anchor: false })
    assert.deepEqual(without.ids, [5, 6])
    await gus.call(flags.update, { messages: ids.slice(0, 6), op: 'add', flag: 'read' })
    const unread = await get({ anchor: 'first_unread', num_after: 9 })
    assert.deepEqual([unread.anchor, unread.ids, unread.found_newest], [ids[6], [6, 7, 8, 9], true])
    assert.deepEqual((await get({ message_ids: [ids[9]!, 1e9, ids[2]!] })).ids, [2, 9])
    await gus.refused(api.list, { message_ids: [1], anchor: 'newest' }, 'BAD_REQUEST')
    await gus.refused(api.list, { anchor: 'soon' }, 'BAD_REQUEST')
    await gus.refused(api.list, { anchor: 'newest', num_before: 5001 }, 'BAD_REQUEST')
    await gus.refused(api.list, {}, 'BAD_REQUEST')
  })

  test('a narrow with an unknown operator, operand, channel or user is refused', async () => {
    const { owner } = daemon()
    for (const narrow of [
      [['mood', 'good']],
      [['is', 'good']],
      [['has', 'wings']],
      [['channel', 'nowhere']],
      [['sender', 'nobody@example.com']],
      [['with', '999999']],
      [{ operator: 'id', operand: 'x' }],
    ])
      await owner.refused(api.list, { anchor: 'newest', narrow }, 'BAD_NARROW')
    await owner.refused(api.list, { anchor: 'newest', narrow: [['is']] }, 'BAD_REQUEST')
    await owner.refused(api.list, { anchor: 'newest', narrow: [['search', ' ']] }, 'BAD_REQUEST')
  })

  test('full-text search finds words and phrases and shows where', async () => {
    const [hal] = await people(daemon(), 'hal')
    await direct(hal, hal, 'The quick brown fox <jumps>')
    await direct(hal, hal, 'A brown quick bear')
    const search = async (operand: string) =>
      (await hal.call(api.list, { anchor: 'newest', num_before: 9, narrow: [['search', operand]] })).messages
    assert.equal((await search('Quick')).length, 2)
    assert.equal((await search('"quick brown"')).length, 1)
    assert.equal((await search('quic')).length, 0)
    const [hit] = await search('fox jumps')
    assert.equal(
      hit!.match_content,
      '<p>The quick brown <span class="highlight">fox</span> &lt;<span class="highlight">jumps</span>&gt;</p>',
    )
    const ids = (await search('quick')).map(message => message.id)
    const { messages } = await hal.call(api.matches, { msg_ids: ids, narrow: [['search', 'bear']] })
    assert.deepEqual(Object.keys(messages), [String(ids[1])])
    await hal.refused(api.matches, { msg_ids: ids, narrow: [['is', 'odd']] }, 'BAD_NARROW')
    await hal.refused(api.matches, { msg_ids: [-1], narrow: [['is', 'read']] }, 'BAD_REQUEST')
  })
})

test('GET /messages returns fewer messages where they are very large, and pages still reach all of them', async () => {
  const [ivy, jan] = await people(daemon(), 'ivy', 'jan')
  // Each has 80,000 characters of HTML.
  const sent = Array.from({ length: 230 }, () => direct(ivy, jan, '```spoiler\n```\n'.repeat(660)))
  const ids = (await Promise.all(sent)).sort((a, b) => a - b)
  const narrow = [['sender', ivy.email!]]
  const found: number[] = []
  for (let anchor = 'newest', isLast = false; !isLast; anchor = String(found[0])) {
    const reply = await jan.call(api.list, { narrow, anchor, num_before: 500, include_anchor: false })
    assert.ok(reply.messages.length < ids.length)
    found.unshift(...reply.messages.map(({ id }) => id))
    isLast = reply.found_oldest
  }
  assert.deepEqual(found, ids)
  await jan.refused(api.list, { message_ids: ids }, 'BAD_REQUEST')
})

describe('PATCH /messages/{message_id}', () => {
  test('an edit changes content, mentions and history, and is told to everyone in it', async () => {
    const [ian, joe] = await people(daemon(), 'ian', 'joe')
    const id = await direct(ian, joe, 'first')
    const events = await listen(joe, ['update_message'])
    await ian.call(api.update, { message_id: id, content: 'second @**joe example**' })
    const [event] = await events()
    assert.equal(event!.orig_content, 'first')
    assert.equal(event!.content, 'second @**joe example**')
    assert.deepEqual(event!.flags, ['mentioned'])
    assert.deepEqual(event!.message_ids, [id])
    const { message } = await joe.call(api.get, { message_id: id })
    assert.equal(message.edit_history!.length, 1)
    assert.equal(message.edit_history![0]!.prev_content, 'first')
    assert.equal(message.last_edit_timestamp, message.edit_history![0]!.timestamp)
    const { message_history } = await joe.call(api.history, { message_id: id })
    assert.deepEqual(
      message_history.map(entry => entry.content),
      ['first', 'second @**joe example**'],
    )
  })

  test('the history of many long versions has a bound on its marks: the oldest are shown without', () => {
    const differences = new HtmlDifferences()
    const version = (number: number) => `<p>${'word '.repeat(5000)}${number}</p>`
    const shown = Array.from({ length: 20 }, (_, number) => differences.between(version(number), version(number + 1)))
    assert.match(shown[0]!, /highlight_text_inserted/)
    assert.equal(shown[19], `<div>${version(20)}</div>`)
  })

  test('many edits take the room of each in the journal, and facts of earlier versions are read', async () => {
    const [una, vic] = await people(daemon(), 'una', 'vic')
    const versions = Array.from({ length: 6 }, (_, number) => `version-${number}-of-una`)
    const id = await direct(una, vic, versions[0]!)
    for (const content of versions.slice(1)) await una.call(api.update, { message_id: id, content })
    const { message_history } = await vic.call(api.history, { message_id: id })
    assert.deepEqual(
      message_history.map(entry => entry.content),
      versions,
    )
    const journal = readFileSync(join(daemon().data, 'journal.ndjson'), 'utf8')
    // Written and rendered, as the content and then as the one before.
    for (const version of versions.slice(0, -1)) assert.equal(journal.split(version).length - 1, 4, version)

    const edits = [1, 2].map(time => ({ userId: 2, time, prevContent: `${time}`, prevHtml: `<p>${time}</p>` }))
    const replay = new Replay()
    const { 'message.sent': sent, 'message.edited': edited } = everyKind
    replay.take([sent, { ...edited, message: { ...edited.message, details: { edits } }, edit: edits[1]! }])
    assert.deepEqual(replay.state.messages.get(1)!.details!.edits, edits)
  })

  test('only its author may, and only what they have seen', async () => {
    const [kim, lea] = await people(daemon(), 'kim', 'lea')
    const id = await direct(kim, lea, 'mine')
    await lea.refused(api.update, { message_id: id, content: 'yours' }, 'BAD_REQUEST')
    await kim.refused(api.update, { message_id: id }, 'BAD_REQUEST')
    await kim.refused(api.update, { message_id: id, topic: 'x' }, 'BAD_REQUEST')
    const { field_name } = await kim.refused(
      api.update,
      { message_id: id, content: 'new', prev_content_sha256: sha },
      'EXPECTATION_MISMATCH',
    )
    assert.equal(field_name, 'prev_content_sha256')
    const right = createHash('sha256').update('mine').digest('hex')
    await kim.call(api.update, { message_id: id, content: ' ', prev_content_sha256: right })
    assert.equal((await lea.call(api.get, { message_id: id })).raw_content, '(deleted)')
  })
})

describe('DELETE /messages/{message_id}', () => {
  test('the author may, others may not; clients get one event or one each', async () => {
    const [max, ned] = await people(daemon(), 'max', 'ned')
    const id = await direct(max, ned, 'gone soon')
    await ned.refused(api.delete, { message_id: id }, 'BAD_REQUEST')
    const bulk = await listen(ned, ['delete_message'], {
      client_capabilities: { bulk_message_deletion: true },
    } as never)
    const single = await listen(ned, ['delete_message'])
    await max.call(api.delete, { message_id: id })
    assert.deepEqual(await bulk(), [{ type: 'delete_message', message_ids: [id], message_type: 'private' }])
    assert.deepEqual(await single(), [{ type: 'delete_message', message_id: id, message_type: 'private' }])
    await ned.refused(api.get, { message_id: id }, 'BAD_REQUEST')
    await ned.refused(api.history, { message_id: id }, 'BAD_REQUEST')
  })
})

describe('other things about messages', () => {
  test('rendering, read receipts, typing while editing, widgets', async () => {
    const [yan, zoe] = await people(daemon(), 'yan', 'zoe')
    assert.equal((await yan.call(api.render, { content: '<b>' })).rendered, '<p>&lt;b&gt;</p>')
    assert.equal((await yan.call(api.render, { content: ' ' })).rendered, '')
    const id = await direct(yan, zoe, 'x')
    await yan.refused(api.receipts, { message_id: id }, 'BAD_REQUEST')
    const events = await listen(zoe, ['typing_edit_message', 'submessage'])
    await yan.call(api.typing, { message_id: id, op: 'start' })
    await zoe.refused(api.typing, { message_id: id, op: 'start' }, 'BAD_REQUEST')
    await zoe.refused(api.submessage, { message_id: id, msg_type: 'widget', content: '{}' }, 'BAD_REQUEST')
    await yan.call(api.submessage, { message_id: id, msg_type: 'widget', content: '{"a":1}' })
    await zoe.call(api.submessage, { message_id: id, msg_type: 'widget', content: '{"b":1}' })
    const [typing, first] = await events()
    assert.deepEqual(typing, {
      type: 'typing_edit_message',
      op: 'start',
      sender_id: yan.id,
      message_id: id,
      recipient: { type: 'direct', user_ids: [yan.id, zoe.id].sort((a, b) => a - b) },
    })
    assert.equal(first!.content, '{"a":1}')
    const { message } = await zoe.call(api.get, { message_id: id })
    assert.equal(message.submessages.length, 2)
    await yan.refused(api.update, { message_id: id, content: 'y' }, 'BAD_REQUEST')
  })
})
