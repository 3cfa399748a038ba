// The law of idempotency keys: every endpoint that is no GET takes one, or refuses it and says why. A request that is sent again gets the
// same answer and changes nothing, and another request with its key is refused.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { botStorage } from '../../daemon/api/bots/bot-storage.ts'
import { bots } from '../../daemon/api/bots/bots.ts'
import { webhooks } from '../../daemon/api/bots/webhooks.ts'
import { channelFolders } from '../../daemon/api/channels/channel-folders.ts'
import { defaultChannels } from '../../daemon/api/channels/default-channels.ts'
import { subscriptions } from '../../daemon/api/channels/subscriptions.ts'
import { topics } from '../../daemon/api/channels/topics.ts'
import type { Endpoint } from '../../daemon/api/define.ts'
import { events } from '../../daemon/api/events.ts'
import { keyHeader, replayedHeader, whyNoKey } from '../../daemon/api/idempotency.ts'
import { messageFlags } from '../../daemon/api/messages/message-flags.ts'
import { messages } from '../../daemon/api/messages/messages.ts'
import { emoji } from '../../daemon/api/organization/emoji.ts'
import { dataExports } from '../../daemon/api/organization/exports.ts'
import { linkifiers } from '../../daemon/api/organization/linkifiers.ts'
import { organization } from '../../daemon/api/organization/organization.ts'
import { pictures } from '../../daemon/api/organization/pictures.ts'
import { playgrounds } from '../../daemon/api/organization/playgrounds.ts'
import { alertWords } from '../../daemon/api/people/alert-words.ts'
import { avatars } from '../../daemon/api/people/avatars.ts'
import { invitations } from '../../daemon/api/people/invitations.ts'
import { mutedUsers } from '../../daemon/api/people/muted-users.ts'
import { profileFields } from '../../daemon/api/people/profile-fields.ts'
import { pushDevices } from '../../daemon/api/people/push-devices.ts'
import { settings } from '../../daemon/api/people/settings.ts'
import { userStatus } from '../../daemon/api/people/user-status.ts'
import { users } from '../../daemon/api/people/users.ts'
import { encode } from '../../daemon/api/wire.ts'
import { BotServer, json } from '../support/bot-server.ts'
import { catalogueEndpoints } from '../support/catalogue.ts'
import { Caller, sharedDaemon, type TestDaemon } from '../support/daemon.ts'
import { aboutPeople } from '../support/event-story/people.ts'
import { aboutOneself } from '../support/event-story/personal.ts'
import { aboutPlaces } from '../support/event-story/places.ts'
import { at, people } from '../support/event-story/row.ts'
import { setStage } from '../support/event-story/stage.ts'
import { formOf, type HttpReply, send } from '../support/http.ts'
import { until } from '../support/until.ts'

let daemon: TestDaemon
let bot: Caller
let operations: ReadonlySet<string>
/** How much of the journal has been read: it grows with every case. */
let seen = 0
/** Its answers end a delivery at the first attempt. Where no server listens, the attempts take half a minute. */
const server = new BotServer()
server.answer = json({}, 400)
before(() => server.listen())
after(() => server.close())
sharedDaemon({ flags: ['--durability', 'os'] }, async started => {
  daemon = started
  operations = new Set((await catalogueEndpoints()).map(({ endpoint }) => endpoint.id))
  await setStage(daemon)
})

type Params = () => object

/** A call with a key. With `more`, the same call with a parameter that it does not know. */
async function attempt(caller: Caller, endpoint: Endpoint, params: object, key: string, more = ''): Promise<HttpReply> {
  const { path, fields } = encode(endpoint, params as Record<string, unknown>)
  const form = formOf(endpoint.method, more === '' ? fields : new Map([...fields, ['another', more]]))
  const headers = { ...form.headers, [keyHeader]: key }
  return send(`${caller.url}/api/v1${path}`, { method: endpoint.method, auth: caller.auth, ...form, headers })
}

/** Entries that calls have made since the last look; the daemon adds its own meanwhile. */
function newEntries(): number {
  const text = readFileSync(join(daemon.data, 'journal.ndjson'), 'utf8').trimEnd()
  const lines = text.slice(seen).split('\n').filter(Boolean)
  seen = text.length
  return lines.filter(line => operations.has(JSON.parse(line).op)).length
}

const called = new Set<string>()
let keys = 0

async function holds(caller: Caller, endpoint: Endpoint, params: object): Promise<Record<string, any>> {
  const key = `key-${++keys}`
  called.add(endpoint.id)
  const first = await attempt(caller, endpoint, params, key)
  assert.equal(first.body.result, 'success', `${endpoint.id}: ${first.text}`)
  assert.equal(first.headers[replayedHeader.toLowerCase()], undefined)
  newEntries()
  const again = await attempt(caller, endpoint, params, key)
  assert.equal(again.text, first.text)
  assert.equal(again.headers[replayedHeader.toLowerCase()], 'true')
  const other = await attempt(caller, endpoint, params, key, 'x')
  assert.deepEqual([other.status, other.body.msg], [400, `${keyHeader}: you used this key for another request`])
  assert.equal(other.headers['natter-refusal'], 'conflict')
  assert.equal(newEntries(), 0, `${endpoint.id}: the journal has grown`)
  return first.body
}

const owner = () => people.o
const keep = (name: string) => (id: unknown) => {
  at[name] = Number(id)
}

/** What the story of events does not call: who, what, and what to remember of the reply. */
const rest: readonly [() => Caller, Endpoint, Params, ((reply: any) => void)?][] = [
  [owner, users.updateByEmail, () => ({ email: 'amy@example.com', full_name: 'Amy' })],
  [owner, messages.send, () => ({ type: 'channel', to: at.garden, topic: 'x', content: 'x' }), r => keep('said')(r.id)],
  [owner, messages.render, () => ({ content: '**x**' })],
  [owner, webhooks.post, () => ({ integration: 'x', api_key: owner().key, stream: String(at.garden), payload: '{}' })],
  [owner, messageFlags.markTopic, () => ({ stream_id: at.garden, topic_name: 'x' })],
  [owner, messageFlags.markChannel, () => ({ stream_id: at.garden })],
  [owner, messageFlags.markAll, () => ({})],
  [
    owner,
    messageFlags.updateNarrow,
    () => ({ anchor: 'newest', num_before: 5, num_after: 0, narrow: [], ...starring }),
  ],
  // Nothing happens, and it is remembered all the same.
  [owner, messageFlags.update, () => ({ messages: [at.said], ...starring })],
  [owner, topics.mute, () => ({ op: 'add', topic: 'x', stream_id: at.garden })],
  [owner, userStatus.updateFor, () => ({ user_id: people.a.id, status_text: 'away' })],
  [() => people.a, mutedUsers.unmute, () => ({ muted_user_id: people.b.id })],
  [() => people.a, alertWords.remove, () => ({ alert_words: ['x'] })],
  [() => people.a, pushDevices.addApple, () => ({ token: 'ab', appid: 'x' })],
  [() => people.a, pushDevices.removeApple, () => ({ token: 'ab' })],
  [() => people.a, pushDevices.addAndroid, () => ({ token: 'x' })],
  [() => people.a, pushDevices.removeAndroid, () => ({ token: 'x' })],
  [() => people.a, pushDevices.test, () => ({})],
  [() => people.a, pushDevices.register, () => device],
  [() => people.a, settings.command, () => ({ command: '/dark' })],
  [() => people.a, avatars.delete, () => ({})],
  [owner, linkifiers.add, () => rule, r => keep('linkifier')(r.id)],
  [owner, linkifiers.update, () => ({ ...rule, filter_id: at.linkifier, url_template: 'https://example.org/{n}' })],
  [owner, linkifiers.reorder, () => ({ ordered_linkifier_ids: [at.linkifier, 1] })],
  [owner, linkifiers.remove, () => ({ filter_id: at.linkifier })],
  [owner, playgrounds.remove, () => ({ playground_id: 1 })],
  [owner, organization.testWelcomeMessage, () => ({ welcome_message_custom_text: 'hi' })],
  [owner, dataExports.remove, () => ({ export_id: 1 })],
  [owner, pictures.deleteIcon, () => ({})],
  [owner, pictures.deleteLogo, () => ({ night: false })],
  [owner, emoji.deactivate, () => ({ emoji_name: 'bean' })],
  [owner, invitations.resend, () => ({ invite_id: at.invitation })],
  [owner, invitations.revoke, () => ({ invite_id: at.invitation })],
  [owner, invitations.createLink, () => ({})],
  [owner, invitations.revokeLink, () => ({ invite_id: at.link })],
  [() => bot, botStorage.put, () => ({ storage: { a: 'b' } })],
  [() => bot, botStorage.remove, () => ({ keys: ['a'] })],
  [owner, webhooks.redeliver, () => ({ delivery_id: at.delivery })],
  [owner, bots.deactivate, () => ({ bot_id: at.bot })],
  [owner, profileFields.update, () => ({ field_id: at.field, name: 'Telephone' })],
  [owner, profileFields.reorder, () => ({ order: [at.field] })],
  [() => people.a, profileFields.clear, () => ({ data: [at.field] })],
  [owner, profileFields.delete, () => ({ field_id: at.field })],
  [owner, subscriptions.change, () => ({ add: [{ name: 'hall' }] })],
  [owner, subscriptions.properties, () => ({ subscription_data: [{ stream_id: at.garden, ...pinning }] })],
  [owner, defaultChannels.remove, () => ({ stream_id: at.garden })],
  [owner, defaultChannels.editGroup, () => ({ group_id: 1, new_group_name: 'm' })],
  [owner, defaultChannels.changeGroup, () => ({ group_id: 1, op: 'add', stream_names: ['hall'] })],
  [owner, defaultChannels.deleteGroup, () => ({ group_id: 1 })],
  [owner, topics.delete, () => ({ stream_id: at.garden, topic_name: 'x' })],
  [owner, channelFolders.reorder, () => ({ order: [at.folder] })],
]

const device = {
  ...{ token_kind: 'fcm', push_account_id: 1, push_public_key: 'x' },
  ...{ bouncer_public_key: 'x', encrypted_push_registration: 'x' },
}
const starring = { op: 'add', flag: 'starred' }
const pinning = { property: 'pin_to_top', value: true }
const rule = { pattern: 'no (?P<n>[0-9]+)', url_template: 'https://example.com/{n}' }

/** After these the account cannot call again. */
const last: readonly [() => Caller, Endpoint][] = [
  [() => people.b, users.deactivateSelf],
  [owner, organization.deactivate],
]

describe('with an Idempotency-Key', () => {
  for (const [index, { by, endpoint, params, keep }] of [...aboutPeople, ...aboutPlaces, ...aboutOneself].entries())
    test(`${index + 1}. ${endpoint.method} ${endpoint.path} happens once`, async () => {
      const reply =
        whyNoKey(endpoint) === undefined
          ? await holds(people[by], endpoint, params())
          : await people[by].call(endpoint, params() as never)
      if (keep) at[keep[0]] = keep[1].split('.').reduce((inner, step) => inner[step], reply as any)
    })

  test('what the rest of the story needs is there', async () => {
    await owner().call(organization.update, { moderation_request_channel_id: at.vault! })
    const hook = { full_name: 'hook', short_name: 'hook', bot_type: 3 as const, payload_url: server.url }
    const { user_id, api_key } = await owner().call(bots.create, hook)
    bot = new Caller(daemon.url, 'hook-bot@example.com', api_key, user_id)
    await owner().call(messages.send, { type: 'direct', to: [user_id], content: 'hi' })
    const log = () => owner().call(webhooks.log, {})
    at.delivery = await until(async () => (await log()).deliveries.find(({ status }) => status === 'failed')?.id)
    await owner().call(invitations.createLink, {})
    const { invites } = await owner().call(invitations.list, {})
    at.link = invites.find(({ is_multiuse }) => is_multiuse)!.id
    at.invitation = invites.find(({ is_multiuse }) => !is_multiuse)!.id
    await until(async () => (await owner().call(dataExports.list, {})).exports.every(({ pending }) => !pending))
  })

  for (const [caller, endpoint, params, remember] of rest)
    test(`${endpoint.method} ${endpoint.path} happens once, ${endpoint.id}`, async () => {
      const reply = await holds(caller(), endpoint, params())
      remember?.(reply)
    })

  test('reporting a message and deleting a queue happen once', async () => {
    const said = { type: 'channel', to: at.garden!, topic: 'y', content: 'y' } as const
    const { id } = await people.a.call(messages.send, said)
    await holds(owner(), messages.report, { message_id: id, report_type: 'spam' })
    const { queue_id } = await owner().call(events.register, {})
    await holds(owner(), events.delete, { queue_id })
  })

  test('endpoints that take none refuse it and say why', async () => {
    for (const { endpoint } of await catalogueEndpoints()) {
      const why = whyNoKey(endpoint)
      if (why === undefined || endpoint.method === 'GET' || endpoint.served === 'outgoing') continue
      called.add(endpoint.id)
      const params = Object.entries(endpoint.params).filter(([, { presence }]) => presence !== 'defaulted')
      const some = Object.fromEntries(
        params.map(([name, { shape }]) => [name, shape.type === 'integer' ? at.bot : 'x']),
      )
      const given = endpoint.id === bots.create.id ? { full_name: 'x', short_name: 'x' } : some
      const caller = endpoint.access === 'user' ? owner() : daemon.anonymous
      const { body } = await attempt(caller, endpoint, endpoint.id === events.register.id ? {} : given, 'refused')
      assert.equal(body.msg, `${keyHeader}: ${why}; send no key here`, endpoint.id)
    }
  })

  test('a GET ignores it', async () => {
    const { body, headers } = await attempt(owner(), users.me, {}, 'key-1')
    assert.deepEqual([body.result, headers[replayedHeader.toLowerCase()]], ['success', undefined])
  })

  for (const [caller, endpoint] of last)
    test(`${endpoint.method} ${endpoint.path} happens once: then the account is gone`, async () => {
      called.add(endpoint.id)
      const first = await attempt(caller(), endpoint, {}, 'the-end')
      assert.equal(first.body.result, 'success', first.text)
      newEntries()
      const again = await attempt(caller(), endpoint, {}, 'the-end')
      assert.ok([401, 403].includes(again.status), again.text)
      assert.equal(newEntries(), 0)
    })

  test('every endpoint of the catalogue that is no GET is here', async () => {
    const all = (await catalogueEndpoints()).map(({ endpoint }) => endpoint)
    const writing = all.filter(({ method, served }) => method !== 'GET' && served !== 'outgoing')
    const ids = writing.map(({ id }) => id)
    assert.deepEqual(
      ids.filter(id => !called.has(id)),
      [],
    )
  })
})
