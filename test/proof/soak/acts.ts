// Acts of people, in both directions, so that nothing adds up: what an act makes, it deletes again.

import { Agent } from 'node:http'
import { subscriptions } from '../../../daemon/api/channels/subscriptions.ts'
import { topics } from '../../../daemon/api/channels/topics.ts'
import { events } from '../../../daemon/api/events.ts'
import { uploads } from '../../../daemon/api/files/uploads.ts'
import { drafts } from '../../../daemon/api/messages/drafts.ts'
import { messageFlags } from '../../../daemon/api/messages/message-flags.ts'
import { messages } from '../../../daemon/api/messages/messages.ts'
import { savedSnippets } from '../../../daemon/api/messages/saved-snippets.ts'
import { scheduledMessages } from '../../../daemon/api/messages/scheduled-messages.ts'
import { typing } from '../../../daemon/api/messages/typing.ts'
import { linkifiers } from '../../../daemon/api/organization/linkifiers.ts'
import { alertWords } from '../../../daemon/api/people/alert-words.ts'
import { presence } from '../../../daemon/api/people/presence.ts'
import { userStatus } from '../../../daemon/api/people/user-status.ts'
import { users } from '../../../daemon/api/people/users.ts'
import type { Caller } from '../../support/daemon.ts'
import { send } from '../../support/http.ts'
import type { Account } from '../traffic/account.ts'

/** Where the people of the soak are. */
export interface Place {
  readonly owner: Caller
  readonly channel: number
}

type Act = (account: Account, place: Place) => Promise<unknown>

/** For calls on connections of their own. */
const noKeepAlive = new Agent({ keepAlive: false })

const far = 4_000_000_000

/** Own messages of an account that are not deleted. */
const mostMessages = 20

/** One that is named twice is done twice as often. */
export const acts: readonly Act[] = [
  account => account.save(),
  account => account.save(),
  account => account.sendOrDelete(mostMessages),
  account => account.sendOrDelete(mostMessages),
  account => account.sendOrDelete(mostMessages),
  account => account.edit(),
  account => account.react(),
  account => account.react(),
  async ({ caller }) => {
    const { saved_snippet_id } = await caller.call(savedSnippets.create, { title: 'for a while', content: 'x' })
    await caller.call(savedSnippets.delete, { saved_snippet_id })
  },
  async ({ caller }) => {
    const draft = { type: 'private' as const, to: [caller.id], topic: '', content: 'not yet' }
    const { ids } = await caller.call(drafts.create, { drafts: [draft] })
    await caller.call(drafts.edit, { draft_id: ids[0]!, draft: { ...draft, content: 'almost' } })
    await caller.call(drafts.delete, { draft_id: ids[0]! })
  },
  async ({ caller }) => {
    const later = { type: 'direct' as const, to: [caller.id], content: 'later', scheduled_delivery_timestamp: far }
    const { scheduled_message_id } = await caller.call(scheduledMessages.create, later)
    await caller.call(scheduledMessages.update, { scheduled_message_id, content: 'even later' })
    await caller.call(scheduledMessages.delete, { scheduled_message_id })
  },
  async ({ caller, living }) => {
    const list = [...living].slice(0, 3)
    if (list.length === 0) return
    await caller.call(messageFlags.update, { op: 'add', flag: 'starred', messages: list })
    await caller.call(messageFlags.update, { op: 'remove', flag: 'starred', messages: list })
  },
  async ({ caller }) => {
    const file = { filename: 'a.txt', contentType: 'text/plain', bytes: Buffer.alloc(3000, 'x') }
    await caller.call(uploads.upload, { file })
    const { attachments } = await caller.call(uploads.list, {})
    for (const { id } of attachments) await caller.call(uploads.remove, { attachment_id: id })
  },
  async ({ caller }) => {
    await caller.call(alertWords.add, { alert_words: ['beans'] })
    await caller.call(alertWords.remove, { alert_words: ['beans'] })
  },
  async ({ caller }, { channel }) => {
    for (const visibility_policy of [3, 0])
      await caller.call(topics.follow, { stream_id: channel, topic: 'topic 1', visibility_policy })
  },
  async ({ caller }) => {
    const { already_subscribed: _ } = await caller.call(subscriptions.subscribe, { subscriptions: [{ name: 'aside' }] })
    await caller.call(subscriptions.unsubscribe, { subscriptions: ['aside'] })
  },
  async ({ caller }) => {
    await caller.call(userStatus.update, { status_text: 'busy' })
    await caller.call(userStatus.update, { status_text: '' })
  },
  ({ caller }) => caller.call(presence.update, { status: 'active', ping_only: true }),
  ({ caller }, { channel }) =>
    caller.call(typing.set, { op: 'start', type: 'channel', stream_id: channel, topic: 'topic 1' }),
  async ({ id: user }, { owner }) => {
    const pattern = `#${user}-(?P<id>[0-9]+)`
    const { id } = await owner.call(linkifiers.add, { pattern, url_template: 'http://a.example/{id}' })
    await owner.call(linkifiers.remove, { filter_id: id })
  },
  // A client that starts, reads everything, and goes.
  async ({ caller }) => {
    const { queue_id } = await caller.call(events.register, {})
    await caller.call(events.get, { queue_id: queue_id!, dont_block: true })
    await caller.call(events.delete, { queue_id: queue_id! })
  },
  hangUp,
  ({ caller }) => caller.call(messages.list, { anchor: 'newest', num_before: 50, num_after: 0 }),
  ({ caller }) =>
    caller.call(messages.list, {
      anchor: 'newest',
      num_before: 20,
      num_after: 0,
      narrow: [{ operator: 'search', operand: 'number' }],
    }),
  ({ caller }) => caller.call(messages.render, { content: '**bold** and `code` and @**all**' }),
  ({ caller }) => caller.call(users.list, {}),
  ({ caller }, { channel }) => caller.call(topics.list, { stream_id: channel }),
  // Mistakes: a bad parameter, an unknown path, a wrong key.
  ({ caller }) => caller.refused(messages.send, { type: 'direct', to: [99_999], content: 'x' }, 'BAD_REQUEST'),
  ({ caller }) => caller.raw('GET', '/api/v1/nothing'),
  ({ caller }) => send(`${caller.url}/api/v1/users/me`, { auth: `${caller.email}:wrong` }),
  ({ caller }) => caller.raw('GET', '/api/v1/users/me', { agent: noKeepAlive }),
]

/** A client that hangs up while its poll waits. */
async function hangUp({ caller }: Account): Promise<void> {
  const { queue_id } = await caller.call(events.register, { event_types: ['realm'], fetch_event_types: [] })
  const query = `queue_id=${queue_id}&last_event_id=-1`
  const poll = caller.raw('GET', '/api/v1/events', { query, agent: noKeepAlive, signal: AbortSignal.timeout(20) })
  await poll.catch(error => {
    if (error.name !== 'TimeoutError' && error.name !== 'AbortError') throw error
  })
  await caller.call(events.delete, { queue_id: queue_id! })
}
