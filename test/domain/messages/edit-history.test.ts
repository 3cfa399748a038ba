// The history of a message has a largest size, and pages count all that their messages have.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { subscriptions } from '../../../daemon/api/channels/subscriptions.ts'
import { messages as api } from '../../../daemon/api/messages/messages.ts'
import type { User } from '../../../daemon/domain/model/state.ts'
import { World } from '../../support/in-process.ts'

/** More than 100,000 characters of HTML. */
const large = ':o: '.repeat(2500)
const page = { anchor: 'newest', num_before: 100, num_after: 0 }

function send(world: World, actor: User, content: string): number {
  return world.run(actor, api.send.id, { type: 'channel', to: 'large', topic: 'one', content }).id
}

function newWorld(): { world: World; owner: User } {
  const world = new World()
  const { owner } = world
  world.run(owner, subscriptions.subscribe.id, { subscriptions: [{ name: 'large' }] })
  return { world, owner }
}

describe('the history of a message', () => {
  const { world, owner } = newWorld()
  const id = send(world, owner, large)

  test('takes no more edits when its earlier versions have too many characters, and can still be read', () => {
    let refusal: { readonly message: string } | undefined
    for (let i = 0; i < 100 && !refusal; i++)
      refusal = world.attempt(owner, api.update.id, { message_id: id, content: `${i} ${large.slice(100)}` })
    assert.match(refusal?.message ?? '', /message_id: the earlier versions .* 4194304 characters; send a new message/)
    const { messages } = world.run(owner, api.list.id, page)
    const { edit_history } = messages.at(-1)
    assert.ok(edit_history.length > 10)
    const { message_history } = world.run(owner, api.history.id, { message_id: id })
    assert.equal(message_history.length, edit_history.length + 1)
  })

  test('takes moves after that', () => {
    world.run(owner, api.update.id, { message_id: id, topic: 'two' })
    assert.equal(world.run(owner, api.get.id, { message_id: id }).message.subject, 'two')
  })

  test('has a bound on its marks that counts tags as well as words: the oldest versions are shown without', () => {
    const version = (number: number) => `version${number}\n\n${'- \n'.repeat(3000)}`
    const edited = send(world, owner, version(0))
    for (let number = 1; number <= 20; number++)
      world.run(owner, api.update.id, { message_id: edited, content: version(number) })
    const [, ...entries] = world.run(owner, api.history.id, { message_id: edited }).message_history
    assert.ok(entries[0].content_html_diff === `<div>${entries[0].rendered_content}</div>`)
    assert.ok(entries[19].content_html_diff.includes('<span class="highlight_text_inserted">version20</span>'))
  })

  test('is refused where it does not fit into one reply, because each move shows the whole content', () => {
    const moved = send(world, owner, large)
    for (let i = 0; i < 200; i++) world.run(owner, api.update.id, { message_id: moved, topic: `topic ${i}` })
    const refusal = world.attempt(owner, api.history.id, { message_id: moved })
    assert.match(refusal?.message ?? '', /message_id: the history of this message does not fit into one reply; fetch/)
  })

  test('takes no more moves when it has too many', () => {
    const moved = send(world, owner, 'x')
    const edits = Array(50_000).fill({ userId: owner.id, time: 0, prevTopic: 'a', topic: 'b' })
    world.state.messages.setDetails(moved, { edits })
    const refusal = world.attempt(owner, api.update.id, { message_id: moved, topic: 'three' })
    assert.match(
      refusal?.message ?? '',
      /message_id: message \d+ has been moved too often to be moved again; delete it/,
    )
  })
})

describe('a page of messages', () => {
  test('ends early when its messages have much data of widgets', () => {
    const { world, owner } = newWorld()
    const content = JSON.stringify('x'.repeat(9900))
    for (let i = 0; i < 3; i++) {
      const message_id = send(world, owner, 'a form')
      for (let n = 0; n < 900; n++) world.run(owner, api.submessage.id, { message_id, msg_type: 'widget', content })
    }
    const { messages, found_oldest } = world.run(owner, api.list.id, page)
    assert.equal(messages.length, 1)
    assert.equal(found_oldest, false)
  })
})
