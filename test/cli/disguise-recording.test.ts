// `natter proxy --disguise`: the recording has no names or addresses of people.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { messages } from '../../daemon/api/messages/messages.ts'
import { users } from '../../daemon/api/people/users.ts'
import { Caller, sharedDaemon } from '../support/daemon.ts'
import { send } from '../support/http.ts'
import { startProxy, upstream } from '../support/proxies.ts'

const daemon = sharedDaemon({ flags: ['--memory', '--preset', 'dev'] })

describe('a disguised recording', () => {
  test('has other names and addresses, the same everywhere', async t => {
    const { owner } = daemon()
    const proxy = await startProxy(t, daemon().url, ['--disguise'])
    const caller = new Caller(proxy.url, owner.email, owner.key, owner.id)
    const { members } = await caller.call(users.list, {})
    await caller.call(messages.send, {
      type: 'channel',
      to: 'general',
      topic: 't',
      content: `Ask ${members[0]!.full_name}`,
    })
    const [, list, sent] = await proxy.stop()
    const text = readFileSync(proxy.file, 'utf8')
    for (const { full_name, email } of members) assert.ok(!text.includes(full_name) && !text.includes(email), full_name)
    assert.equal(sent!.sent.content, `Ask ${list!.answer.members[0].full_name}`)
    assert.ok(list!.answer.members.some(({ email }: { email: string }) => email === sent!.user))
  })

  test('has no name of people who are named only as senders, recipients, in events and in mentions', async t => {
    const content = '<p><span class="user-mention" data-user-id="7">@Gil Green</span> will mark it, says Amy</p>'
    const answer = {
      result: 'success',
      messages: [
        {
          type: 'private',
          sender_id: 1,
          sender_email: 'user1@real.test',
          sender_full_name: 'Amy Adams',
          is_admin: true,
          content,
          display_recipient: [
            { id: 1, email: 'user1@real.test', full_name: 'Amy Adams' },
            { id: 2, email: 'bob@real.test', full_name: 'Bob Brown' },
          ],
          reactions: [{ user_id: 3, user: { id: 3, email: 'cat@real.test', full_name: 'Cat Cole' } }],
        },
      ],
      events: [
        { id: 0, type: 'realm_user', op: 'update', person: { user_id: 2, full_name: 'Bobby Black' } },
        { id: 1, type: 'mark', user_id: 4, user_full_name: 'Mark Admin' },
        { id: 2, type: 'draft', content: 'Ask @**Eve Elm|5**, @_**Fay Fox** and @**all** of them' },
      ],
      presences: { 'bob@real.test': {} },
    }
    const site = await upstream(t, (_, response) => response.end(JSON.stringify(answer)))
    const proxy = await startProxy(t, site, ['--disguise'])
    await send(`${proxy.url}/api/v1/users/bob%40real.test`)
    const [, call] = await proxy.stop()
    const text = readFileSync(proxy.file, 'utf8')
    for (const name of 'Amy Adams Bob Bobby Black Brown Cat Cole Eve Elm Fay Fox Gil Green real.test'.split(' '))
      assert.doesNotMatch(text, new RegExp(`\\b${name}\\b`))
    const { messages, events, presences } = call!.answer
    const [{ display_recipient: recipients, ...message }] = messages
    assert.notEqual(message.sender_full_name, 'Amy Adams')
    assert.deepEqual(recipients[0], { id: 1, email: message.sender_email, full_name: message.sender_full_name })
    assert.equal(events[0].person.full_name, recipients[1].full_name)
    assert.deepEqual(Object.keys(presences), [recipients[1].email])
    assert.equal(call!.path, `/api/v1/users/${encodeURIComponent(recipients[1].email)}`)
    assert.match(events[2].content, /@\*\*all\*\* of them$/)
    // Words of the API stay, though a person is called Mark Admin.
    assert.equal(events[1].type, 'mark')
    assert.equal(message.is_admin, true)
  })
})
