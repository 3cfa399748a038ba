// Hidden things look like things that do not exist: the same probe for a hidden channel, message, person or
// address, and for none, gives the same bytes. Over every parameter of the catalogue that takes such an ID, and over every text in
// any of them, which may be an address or hold a mention.
// Names of channels are unique for all users: the name of a hidden one cannot be given to another, and only this shows.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { TSchema } from '@sinclair/typebox'
import { channels } from '../../daemon/api/channels/channels.ts'
import type { Endpoint } from '../../daemon/api/define.ts'
import { defaultLevel } from '../../daemon/api/levels/releases.ts'
import { drafts } from '../../daemon/api/messages/drafts.ts'
import { messages } from '../../daemon/api/messages/messages.ts'
import { savedSnippets } from '../../daemon/api/messages/saved-snippets.ts'
import { scheduledMessages } from '../../daemon/api/messages/scheduled-messages.ts'
import { organization } from '../../daemon/api/organization/organization.ts'
import { profileFields } from '../../daemon/api/people/profile-fields.ts'
import { settings } from '../../daemon/api/people/settings.ts'
import { userGroups } from '../../daemon/api/people/user-groups.ts'
import { encode } from '../../daemon/api/wire.ts'
import { catalogueEndpoints } from '../support/catalogue.ts'
import { type Caller, sharedDaemon } from '../support/daemon.ts'
import { formOf } from '../support/http.ts'
import { person } from '../support/world.ts'

/** Far above all that exist, and of as many digits as a reply may repeat. */
const absent = 987_654
/** Set by the test's world: what is hidden, and from whom. */
const hidden: Record<string, number> = {}
const from: Record<string, Caller> = {}

sharedDaemon({ flags: ['--durability', 'os'] }, async running => {
  const { owner } = running
  const mel = await person(running, 'mel')
  const gus = await person(running, 'gus', { role: 600 })
  const hal = await person(running, 'hal')
  await owner.call(channels.create, { name: 'vault', subscribers: [owner.id, hal.id], invite_only: true })
  hidden.channel = (await owner.call(channels.id, { stream: 'vault' })).stream_id
  const to = { type: 'channel', to: 'vault', topic: 'gold', content: 'bars' } as const
  hidden.message = (await owner.call(messages.send, to)).id
  hidden.user = hal.id
  hidden.own = (await mel.call(messages.send, { type: 'direct', to: [mel.id], content: 'mine' })).id
  const { user_groups } = await owner.call(userGroups.list, {})
  const members = user_groups.find(({ name }) => name === 'role:members')!.id
  await owner.call(organization.update, { can_access_all_users_group: { new: members } } as never)
  await hal.call(settings.update, { email_address_visibility: 4 })
  Object.assign(from, { channel: mel, message: mel, user: gus, owner })
})

/** Calls that would end the accounts of the test. */
const left = ['deactivate-own-user', 'deactivate-realm', 'regenerate-api-key', 'update-settings']

/** Has a stand-in for everyone who is hidden, as `register` does. It shows only that such a user exists. */
const standIns = 'get-users'

const endpoints = (await catalogueEndpoints())
  .map(({ endpoint }) => endpoint)
  .filter(
    ({ id, served, since }) => served !== 'outgoing' && since <= defaultLevel && !left.includes(id) && id !== standIns,
  )

async function answer(caller: Caller, endpoint: Endpoint, params: Record<string, unknown>, probe: string | number) {
  const { path, fields } = encode(endpoint, params)
  if (endpoint.id === 'get-events') fields.set('dont_block', 'true')
  const { status, text } = await caller.raw(endpoint.method, `/api/v1${path}`, formOf(endpoint.method, fields))
  const repeated = typeof probe === 'number' ? new RegExp(`\\b${probe}\\b`, 'g') : probe
  const alike = text.replaceAll(repeated, '#').replace(/"queue_id":"[^"]*"/, '')
  return `${status} ${alike}`
}

describe('what is hidden looks like what is not there', () => {
  for (const endpoint of endpoints)
    for (const [name, { shape }] of Object.entries(endpoint.params))
      for (const [kind, make] of idsIn(shape))
        test(`${endpoint.id}: the ${kind} ID in ${name}`, async () => {
          const ask = (id: number) =>
            answer(from[kind]!, endpoint, { ...needed(endpoint), ...more(endpoint, kind), [name]: make(id) }, id)
          assert.equal(await ask(hidden[kind]!), await ask(absent))
        })

  const byName: [string, string, (name: string) => Record<string, unknown>][] = [
    ['get-stream-id', 'vault', stream => ({ stream })],
    ['send-message', 'vault', to => ({ type: 'channel', to, topic: 'x', content: 'x' })],
    [
      'get-messages',
      'vault',
      operand => ({ anchor: 'newest', num_before: 1, num_after: 0, narrow: [['channel', operand]] }),
    ],
    ['send-message', 'vault', to => ({ type: 'channel', to, content: 'x' })],
    ['send-message', 'vault', to => ({ type: 'channel', to, topic: '', content: '' })],
    [
      'create-scheduled-message',
      'vault',
      to => ({ type: 'channel', to, content: 'x', scheduled_delivery_timestamp: 4_000_000_000 }),
    ],
    ['mute-topic', 'vault', stream => ({ stream, topic: 'gold', op: 'remove' })],
    ['unsubscribe', 'vault', name => ({ subscriptions: [name] })],
    ['send-message', 'hal@example.com', to => ({ type: 'direct', to: [to], content: 'x' })],
    [
      'get-messages',
      'hal@example.com',
      operand => ({ anchor: 'newest', num_before: 1, num_after: 0, narrow: [['sender', operand]] }),
    ],
    [
      'get-messages',
      'hal@example.com',
      operand => ({ anchor: 'newest', num_before: 1, num_after: 0, narrow: [['dm', operand]] }),
    ],
    ['get-user-by-email', 'hal@example.com', email => ({ email })],
    ['get-user-presence', 'hal@example.com', user_id_or_email => ({ user_id_or_email })],
    ['create-bot', 'vault', name => ({ full_name: 'Probe', short_name: 'probe', default_sending_stream: name })],
  ]
  for (const [id, name, params] of byName)
    test(`${id}: ${name} in ${Object.keys(params('')).at(-1)}`, async () => {
      const endpoint = endpoints.find(one => one.id === id)
      assert.ok(endpoint, `there is no endpoint ${id}`)
      const nothing = name.includes('@') ? 'nil@example.com' : 'nowhere'
      const ask = (probe: string) => answer(from.channel!, endpoint, params(probe), probe)
      assert.equal(await ask(name), await ask(nothing))
    })
})

/** Their answers repeat what the caller gave before. */
const ownLists = ['add-alert-words', 'remove-alert-words', 'add-navigation-view', 'create-big-blue-button-video-call']

describe('a hidden person in a text looks like an absent one', () => {
  for (const endpoint of endpoints)
    for (const [name, { shape }] of Object.entries(endpoint.params))
      for (const [isMarkdown, make] of ownLists.includes(endpoint.id) ? [] : textsIn(shape))
        test(`${endpoint.id}: a text in ${name}${isMarkdown ? ', as a mention' : ''}`, async () => {
          for (const [hiddenText, absentText] of isMarkdown ? mentions() : addresses()) {
            const ask = async (text: string) => {
              const completed = { ...needed(endpoint), ...(isMarkdown && (await around(endpoint))), [name]: make(text) }
              const replied = await answer(from.user!, endpoint, completed, text)
              // Otherwise the text was never examined.
              if (isMarkdown) assert.match(replied, /^200 /, `${endpoint.id} needs more parameters in this test`)
              return [replied, isMarkdown ? await written() : ''].map(one => alike(one, text))
            }
            assert.deepEqual(await ask(hiddenText), await ask(absentText), hiddenText)
          }
        })

  const alike = (reply: string, text: string) =>
    reply
      .replaceAll(text, '#')
      .replaceAll(/hal example|nil example/g, '#')
      .replaceAll(/\d+/g, '0')
  const mentions = () =>
    [
      [`@**|${hidden.user}**`, `@**|${absent}**`],
      [`@_**hal example|${hidden.user}**`, `@_**nil example|${absent}**`],
      ['@**hal example**', '@**nil example**'],
    ] as const
  const addresses = () =>
    [
      ['hal@example.com', 'nil@example.com'],
      [`user${hidden.user}@example.com`, `user${absent}@example.com`],
    ] as const

  /** What makes an endpoint take its Markdown. */
  async function around({ id }: Endpoint): Promise<Record<string, unknown>> {
    const gus = from.user!
    const later = 4_000_000_000
    const to = { type: 'direct' as const, to: [gus.id!] }
    const scheduled = { ...to, content: 'x', scheduled_delivery_timestamp: later }
    switch (id) {
      case 'send-message':
        return to
      case 'update-message':
        return { message_id: (await gus.call(messages.send, { ...to, content: 'mine' })).id }
      case 'create-scheduled-message':
        return scheduled
      case 'update-scheduled-message':
        return { scheduled_message_id: (await gus.call(scheduledMessages.create, scheduled)).scheduled_message_id }
      case 'edit-saved-snippet':
        return {
          saved_snippet_id: (await gus.call(savedSnippets.create, { title: 'x', content: 'x' })).saved_snippet_id,
        }
      case 'edit-draft':
        return {
          draft_id: (await gus.call(drafts.create, { drafts: [{ type: '', to: [], topic: '', content: 'x' }] })).ids[0],
        }
      default:
        return {}
    }
  }

  /** What the reader finds of the newest text that they wrote. */
  async function written(): Promise<string> {
    const gus = from.user!
    const narrow = [{ operator: 'sender', operand: gus.id }]
    const query = { anchor: 'newest', num_before: 1, num_after: 0, narrow, apply_markdown: true } as never
    const [message] = (await gus.call(messages.list, query)).messages
    const scheduled = (await gus.call(scheduledMessages.list, {})).scheduled_messages.at(-1)
    return JSON.stringify([
      message?.content,
      message?.flags,
      scheduled && (scheduled as { rendered_content?: string }).rendered_content,
    ])
  }
})

test('a profile field of people takes a hidden person no more than an absent one', async () => {
  const { id } = await from.owner!.call(profileFields.create, { name: 'Boss', field_type: 6 })
  const ask = (person: number) =>
    from.user!.refused(profileFields.set, { data: [{ id, value: [person] }] }, 'BAD_REQUEST')
  const [one, other] = [await ask(hidden.user!), await ask(absent)]
  assert.equal(one.msg.replace(String(hidden.user), '#'), other.msg.replace(String(absent), '#'))
})

/** The texts a parameter takes, at any depth, whether they are Markdown, and how it is written with one. */
function textsIn(shape: TSchema): [boolean, (text: string) => unknown][] {
  if (Array.isArray(shape.anyOf)) return shape.anyOf.flatMap(textsIn)
  if (shape.type === 'array') return textsIn(shape.items).map(([markdown, make]) => [markdown, text => [make(text)]])
  if (shape.type === 'object')
    return Object.entries(shape.properties ?? {}).flatMap(([name, inner]) =>
      textsIn(inner as TSchema).map(([markdown, make]): [boolean, (text: string) => unknown] => [
        markdown,
        text => ({ ...(sample(shape) as object), [name]: make(text) }),
      ]),
    )
  const isText = shape.type === 'string' && shape.const === undefined && shape.format !== 'binary'
  return isText ? [[shape.ref === 'markdown', text => text]] : []
}

/** The kinds of IDs a parameter takes, and how it is written with one. */
function idsIn(shape: TSchema): ['channel' | 'message' | 'user', (id: number) => unknown][] {
  if (Array.isArray(shape.anyOf)) return shape.anyOf.flatMap(idsIn)
  if (shape.type === 'array') return idsIn(shape.items).map(([kind, make]) => [kind, id => [make(id)]])
  return ['channel', 'message', 'user'].includes(shape.ref) ? [[shape.ref, id => id]] : []
}

/** The required parameters, with values that mean as little as possible. */
function needed(endpoint: Endpoint): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(endpoint.params)
      .filter(([, { presence }]) => presence === 'required' || presence === 'path')
      .map(([name, { shape }]) => [name, sample(shape)]),
  )
}

/** What makes an endpoint look at the ID at all. */
function more({ id }: Endpoint, kind: string): Record<string, unknown> {
  if (id === 'set-typing-status') return kind === 'channel' ? { type: 'channel', topic: 'x' } : { type: 'direct' }
  if (id === 'update-user-topic') return { topic: 'gold', visibility_policy: 0 }
  if (id === 'mute-topic') return { topic: 'x', op: 'add' }
  if (id === 'update-message' && kind === 'channel') return { message_id: hidden.own }
  if (id === 'get-subscription-status') return { user_id: from.channel!.id }
  return {}
}

function sample(shape: TSchema): unknown {
  if (shape.const !== undefined) return shape.const
  if (Array.isArray(shape.anyOf)) return sample(shape.anyOf[0])
  if (shape.format === 'binary') return { filename: 'a.txt', contentType: 'text/plain', bytes: Buffer.from('x') }
  switch (shape.type) {
    case 'string':
      return 'x'
    case 'boolean':
      return true
    case 'array':
      return []
    case 'object':
      return Object.fromEntries((shape.required ?? []).map((name: string) => [name, sample(shape.properties[name])]))
    default:
      return absent - 1
  }
}
