// Replies with every field that they can have: what is declared is sent, and nothing else (`replyProblem` holds every reply of
// every test to that, however deep).

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { bots } from '../../daemon/api/bots/bots.ts'
import { channels } from '../../daemon/api/channels/channels.ts'
import { messages } from '../../daemon/api/messages/messages.ts'
import { reactions } from '../../daemon/api/messages/reactions.ts'
import { linkifiers } from '../../daemon/api/organization/linkifiers.ts'
import { profileFields } from '../../daemon/api/people/profile-fields.ts'
import { users } from '../../daemon/api/people/users.ts'
import { type Caller, sharedDaemon } from '../support/daemon.ts'
import { direct, people } from '../support/world.ts'

let amy: Caller
let bob: Caller

const daemon = sharedDaemon({}, async running => {
  ;[amy, bob] = await people(running, 'amy', 'bob')
  for (const name of ['here', 'there']) await amy.call(channels.create, { name, subscribers: [amy.id, bob.id] })
})

const always = `id sender_id sender_email sender_full_name sender_realm_str avatar_url type timestamp client content
  content_type is_me_message recipient_id display_recipient subject topic_links reactions submessages flags`

const keys = (row: object) => Object.keys(row).sort().join(' ')
const sorted = (names: string) => names.split(/\s+/).sort().join(' ')

describe('GET /messages and GET /messages/{message_id}', () => {
  test('a message that was edited, moved, searched for, and has everything else', async () => {
    const { owner } = daemon()
    await owner.call(linkifiers.add, { pattern: 'T(?P<id>[0-9]+)', url_template: 'https://example.com/{id}' })
    const place = { type: 'channel', to: 'here', topic: 'T7' } as const
    const { id } = await amy.call(messages.send, { ...place, content: 'A first word' })
    await amy.call(messages.update, { message_id: id, content: 'A second word' })
    await owner.call(messages.update, { message_id: id, topic: 'T8', send_notification_to_old_thread: false })
    const { stream_id } = await amy.call(channels.id, { stream: 'there' })
    await owner.call(messages.update, { message_id: id, stream_id, send_notification_to_old_thread: false })
    await bob.call(reactions.add, { message_id: id, emoji_name: 'tada' })
    await amy.call(messages.submessage, { message_id: id, msg_type: 'widget', content: '{}' })
    const narrow = [{ operator: 'search', operand: 'second' }]
    const found = await bob.call(messages.list, { anchor: 'newest', num_before: 1, num_after: 0, narrow })
    const [message] = found.messages
    const changed = 'stream_id edit_history last_edit_timestamp last_moved_timestamp'
    assert.equal(keys(message!), sorted(`${always} ${changed} match_content match_subject`))
    const one = (await bob.call(messages.get, { message_id: id })).message
    assert.equal(keys(one), sorted(`${always} ${changed}`))
    const common = 'user_id timestamp'
    assert.deepEqual(one.edit_history!.map(keys), [
      sorted(`${common} prev_stream stream`),
      sorted(`${common} prev_topic topic`),
      sorted(`${common} prev_content prev_rendered_content`),
    ])
    assert.equal(keys(one.reactions[0]!), sorted('emoji_name emoji_code reaction_type user_id'))
    assert.equal(keys(one.submessages[0]!), sorted('id message_id sender_id msg_type content'))
    assert.equal(keys(one.topic_links[0]!), sorted('text url'))
    const { message_history } = await bob.call(messages.history, { message_id: id })
    const entry = 'topic content rendered_content timestamp user_id'
    assert.deepEqual(message_history.map(keys), [
      sorted(entry),
      sorted(`${entry} prev_content prev_rendered_content content_html_diff`),
      sorted(`${entry} prev_topic`),
      sorted(`${entry} prev_stream stream`),
    ])
  })

  test('a direct message', async () => {
    const { message } = await bob.call(messages.get, { message_id: await direct(amy, bob, 'Hello') })
    assert.equal(keys(message), sorted(always))
    const [person] = message.display_recipient as object[]
    assert.equal(keys(person!), sorted('id email full_name is_mirror_dummy'))
  })
})

describe('GET /users/{user_id} and GET /users/{email}', () => {
  test('a bot has its owner, and a person the profile that was asked for', async () => {
    const { id } = await daemon().owner.call(profileFields.create, { field_type: 2, name: 'Motto' })
    await amy.call(profileFields.set, { data: [{ id, value: '*Onward*' }] })
    const bot = await amy.call(bots.create, { short_name: 'echo', full_name: 'Echo', bot_type: 1 })
    const { user } = await bob.call(users.show, { user_id: bot.user_id })
    assert.equal(user.bot_owner_id, amy.id)
    const asked = { include_custom_profile_fields: true }
    const byId = (await bob.call(users.show, { user_id: amy.id, ...asked })).user
    const byEmail = (await bob.call(users.showByEmail, { email: amy.email!, ...asked })).user
    assert.deepEqual(byEmail, byId)
    assert.equal(keys(byId.profile_data![id]!), sorted('value rendered_value'))
  })
})
