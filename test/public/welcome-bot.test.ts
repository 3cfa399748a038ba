// The welcome bot, as clients of the public server know it: it replies to direct messages.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Control } from '../support/control.ts'
import { type Caller, sharedDaemon, type TestDaemon } from '../support/daemon.ts'
import { fetched, person } from '../support/world.ts'
import { ok } from './support/cases.ts'

let daemon: TestDaemon
let amy: Caller
let bob: Caller
let bot: number

describe('the welcome bot', () => {
  sharedDaemon({ flags: ['--memory', '--control'] }, async started => {
    daemon = started
    amy = await person(daemon, 'amy')
    bob = await person(daemon, 'bob')
    const { cross_realm_bots } = await fetched(amy, ['realm_user'])
    bot = cross_realm_bots.find(({ email }: { email: string }) => email.startsWith('welcome-bot@')).user_id
  })

  describe('a direct message', directMessages)
  describe('the messages to a new account', greetings)
})

function directMessages(): void {
  const known = [
    ['app', 'Apps'],
    ['profile', 'Profile'],
    ['theme', 'Theme'],
    ['stream', 'Streams', 'channel', 'channels'],
    ['topic', 'Topics'],
    ['message formatting', 'Formatting'],
    ['keyboard', 'shortcuts', 'Keyboard shortcuts'],
    ['help', 'Help', '?'],
  ]
  for (const words of known)
    test(`is explained: ${words.join(', ')}`, async () => {
      const replies = []
      for (const word of words) replies.push(await replyTo(amy, word))
      assert.equal(new Set(replies).size, 1)
      assert.ok(replies[0])
    })

  test('that is not understood gets the list of what is, once', async () => {
    assert.match(String(await replyTo(amy, 'Hello')), /`apps`.*`keyboard shortcuts`, `help`\./)
    for (const word of ['Hello', 'HAHAHA']) assert.equal(await replyTo(amy, word), undefined)
    assert.ok(await replyTo(amy, 'theme'))
  })

  test('with others in it gets no reply', async () => {
    const { id } = await ok(amy, 'POST /messages', { type: 'direct', to: [bob.id, bot], content: 'help' })
    assert.equal((await newest(amy, [bob.id, bot])).id, id)
  })

  test('that begins the conversation is in the same one as its reply', async () => {
    const { owner } = daemon
    await ok(owner, 'POST /messages', { type: 'direct', to: [bot], content: 'topics' })
    const narrow = [{ operator: 'dm', operand: [bot] }]
    const { messages } = await ok(owner, 'GET /messages', { anchor: 'newest', num_before: 9, num_after: 0, narrow })
    assert.deepEqual(
      messages.map(({ sender_id }: { sender_id: number }) => sender_id),
      [owner.id, bot],
    )
  })

  test('that was scheduled gets its reply when it is delivered', async () => {
    const scheduled_delivery_timestamp = Math.floor(Date.now() / 1000) + 60
    await ok(bob, 'POST /scheduled_messages', {
      type: 'direct',
      to: [bot],
      content: 'profile',
      scheduled_delivery_timestamp,
    })
    await new Control(daemon).advance('2m')
    assert.equal((await newest(bob, [bot])).sender_id, bot)
  })
}

function greetings(): void {
  test('are one conversation, also when the organization has a text of its own', async () => {
    await ok(daemon.owner, 'PATCH /realm', { welcome_message_custom_text: 'Mind the gap.' })
    const eve = await person(daemon, 'eve')
    const narrow = [{ operator: 'dm', operand: [bot] }]
    const { messages } = await ok(eve, 'GET /messages', { anchor: 'newest', num_before: 9, num_after: 0, narrow })
    assert.equal(messages.length, 2)
  })
}

/** What the bot replies to a message; undefined if it does not. */
async function replyTo(from: Caller, content: string): Promise<string | undefined> {
  const { id } = await ok(from, 'POST /messages', { type: 'direct', to: [bot], content })
  const message = await newest(from, [bot])
  return message.id > id ? message.content : undefined
}

async function newest(caller: Caller, operand: readonly number[]): Promise<Record<string, any>> {
  const narrow = [{ operator: 'dm', operand }]
  const query = { anchor: 'newest', num_before: 1, num_after: 0, narrow, apply_markdown: false }
  return (await ok(caller, 'GET /messages', query)).messages.at(-1)
}
