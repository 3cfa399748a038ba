import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { channels } from '../../daemon/api/channels/channels.ts'
import { subscriptions } from '../../daemon/api/channels/subscriptions.ts'
import { messageFlags } from '../../daemon/api/messages/message-flags.ts'
import { messages } from '../../daemon/api/messages/messages.ts'
import { reactions } from '../../daemon/api/messages/reactions.ts'
import { savedSnippets } from '../../daemon/api/messages/saved-snippets.ts'
import { users } from '../../daemon/api/people/users.ts'
import { startNatter } from '../../daemon/testing/index.ts'
import { Control } from '../support/control.ts'
import { sharedDaemon } from '../support/daemon.ts'

describe('GET /snapshots/diff', () => {
  const daemon = sharedDaemon({ flags: ['--memory', '--preset', 'dev'] })
  const control = () => new Control(daemon())
  const diff = (from: string, to = 'now') => control().call('GET', `/snapshots/diff?from=${from}&to=${to}`)

  test('is empty where nothing happened', async () => {
    await control().call('POST', '/snapshots', { name: 'same' })
    const { total, resources } = await diff('same')
    assert.equal(total, 0, JSON.stringify(resources))
    assert.deepEqual(resources, {})
  })

  test('lists what was added, changed and removed, in the words of the API', async () => {
    const { owner } = daemon()
    await control().call('POST', '/snapshots', { name: 'before' })
    const { saved_snippet_id } = await owner.call(savedSnippets.create, { title: 'short', content: 'lived' })
    await control().call('POST', '/snapshots', { name: 'between' })
    await owner.call(savedSnippets.delete, { saved_snippet_id })
    const { id } = await owner.call(messages.send, { type: 'stream', to: 'general', topic: 'diff', content: 'new' })
    await owner.call(reactions.add, { message_id: id, emoji_name: 'tada' })
    const { stream_id } = await owner.call(channels.id, { stream: 'general' })
    await owner.call(channels.update, { stream_id, description: 'All of us' })
    await owner.call(users.update, { user_id: owner.id, full_name: 'Another Name' })
    await owner.call(subscriptions.unsubscribe, { subscriptions: ['announcements'] })
    await owner.call(messageFlags.update, { messages: [id], op: 'add', flag: 'starred' })

    const { resources } = await diff('between')
    assert.deepEqual(Object.keys(resources).sort(), [
      'channels',
      'message_flags',
      'messages',
      'saved_snippets',
      'subscriptions',
      'user_topics',
      'users',
    ])
    const added = resources.messages.added.find((thing: any) => thing.id === id)
    assert.equal(added.fields.content, 'new')
    assert.equal(added.fields.reactions[0].emoji_name, 'tada')
    assert.equal(added.name, `${owner.email} in #general > diff`)
    assert.deepEqual(resources.channels.changed, [
      { id: stream_id, name: '#general', changes: { description: { from: 'Everyone is here', to: 'All of us' } } },
    ])
    assert.deepEqual(Object.keys(resources.users.changed[0].changes), ['full_name'])
    assert.equal(resources.saved_snippets.removed[0].fields.title, 'short')
    assert.equal(resources.subscriptions.removed[0].name, `${owner.email} in #announcements`)
    assert.match(resources.message_flags.changed[0].changes.starred.to, new RegExp(`${id}$`))

    const back = await diff('now', 'before')
    assert.ok(back.resources.messages.removed.some((thing: any) => thing.id === id))
    assert.equal(back.resources.saved_snippets, undefined, 'what came and went in between is no difference')
  })

  test('compares with the start, and lists no more than asked for', async () => {
    const { owner } = daemon()
    for (const content of ['one', 'two', 'three'])
      await owner.call(messages.send, { type: 'stream', to: 'general', topic: 'limit', content })
    const { total, resources } = await control().call('GET', '/snapshots/diff?from=start&limit=1')
    assert.ok(total > 3)
    const listed = Object.values<any>(resources).flatMap(({ added, changed, removed }) =>
      [added, changed, removed].flat(),
    )
    assert.equal(listed.length, 1)
  })

  test('refuses snapshots that do not exist, and names that mean something else', async () => {
    const missing = await control().try('GET', '/snapshots/diff?from=nowhere')
    assert.deepEqual([missing.status, missing.body.msg], [404, 'from: there is no snapshot "nowhere"'])
    const second = await control().try('GET', '/snapshots/diff?from=now&to=nowhere')
    assert.equal(second.body.msg, 'to: there is no snapshot "nowhere"')
    const taken = await control().try('POST', '/snapshots', { name: 'now' })
    assert.equal(taken.body.msg, 'name: now is reserved; choose another name')
  })
})

describe('natter.changed and natter.why', () => {
  test('return what a piece of code changed, and why someone received nothing', async t => {
    const natter = await startNatter()
    t.after(() => natter.stop())
    let id = 0
    const { resources } = await natter.changed(async () => {
      ;({ id } = await natter.as('amy').messages.send({ type: 'channel', to: 'general', topic: 't', content: 'hi' }))
    })
    assert.deepEqual(
      resources.messages!.added.map(({ fields }) => fields.content),
      ['hi'],
    )
    assert.deepEqual(await natter.changed(() => {}), { total: 0, resources: {} })
    assert.match(natter.why(id, 'bob').summary, /bob@example.com had no event queue/)
    await assert.rejects(natter.as('amy').channels.archive({ stream_id: 1 }))
    assert.equal(natter.why({ call: natter.requests().at(-1)!.id }).steps.at(-1)!.rule, 'archiveChannel')
  })
})
