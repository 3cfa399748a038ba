// Scheduled messages: personal records that become messages at their time, once, with the rights their author then has.

import type { ParamsOf, Static } from '../../api/define.ts'
import { scheduledMessages as api, type scheduledMessage as shape } from '../../api/messages/scheduled-messages.ts'
import { limits } from '../limits.ts'
import type { ScheduledMessageFact } from '../model/facts/messages.ts'
import type { ScheduledMessage } from '../model/rows/messages.ts'
import type { State } from '../model/state.ts'
import { full, missingOwn, needed, neededOneOf, Refusal } from '../refusal.ts'
import { type Announcement, type Context, type Job, type Outcome, resource, type Surroundings } from '../resource.ts'
import { futureTime } from '../values/time.ts'
import { isNoTopic, normalizeTopic } from '../values/topic-names.ts'
import { checkWaiting, messageContent, truncateContent } from './messages/compose.ts'
import { composeMessage, isAppForPeople, posting, resolveTarget, type Target } from './messages/send.ts'
import { directNotice } from './notices/post.ts'
import { replyAsWelcomeBot } from './notices/welcome.ts'

/** Milliseconds. What is later than this is not sent: it may make no sense any more. */
const mostLate = 10 * 60 * 1000

const delivery: Job = {
  op: 'deliver-scheduled-message',
  due: state => state.scheduledMessages.nextDue,
  // One at a time: what the first one begins, a conversation or a topic, the next must find.
  run: ctx => deliver(ctx),
}

export const scheduledMessages = resource(api)<ScheduledMessageFact>({
  commands: {
    list: ctx => ({ reply: { scheduled_messages: present(ctx) } }),

    create(ctx, params) {
      if (ctx.state.scheduledMessages.where('user', ctx.actor.id).length >= limits.scheduledMessages)
        throw full('You', limits.scheduledMessages, 'scheduled messages')
      const due = futureTime(ctx.now, params.scheduled_delivery_timestamp)
      const content = messageContent(params.content)
      const target = resolveTarget(ctx, params)
      const toSelf = 'people' in target && target.people.length === 1
      const message: ScheduledMessage = {
        id: ctx.state.scheduledMessages.nextId,
        userId: ctx.actor.id,
        target: kept(target),
        content,
        html: composeMessage(ctx, target, content).html,
        due,
        failed: false,
        client: ctx.client,
        readBySender: params.read_by_sender ?? (isAppForPeople(ctx.client) && !toSelf),
      }
      checkRoom(ctx, message)
      return {
        facts: [{ type: 'scheduled-message.created', message }],
        reply: { scheduled_message_id: message.id },
      }
    },

    update(ctx, params) {
      const old = findOwn(ctx, params.scheduled_message_id)
      const { type, to, content, topic, scheduled_delivery_timestamp: time } = params
      const changesText = [type, to, content, topic].some(given => given !== undefined)
      if (!changesText && time === undefined)
        throw neededOneOf('type', 'to', 'content', 'topic', 'scheduled_delivery_timestamp')
      if (old.failed && time === undefined)
        throw needed('scheduled_delivery_timestamp', 'for a message that could not be sent')
      const due = time === undefined ? old.due : futureTime(ctx.now, time)
      const { reason: _reason, ...rest } = old
      const message = { ...rest, ...(changesText && rewritten(ctx, params, old)), due, failed: false }
      checkRoom(ctx, message)
      return { facts: [{ type: 'scheduled-message.edited', message }], reply: {} }
    },

    delete(ctx, { scheduled_message_id }) {
      const { id, userId } = findOwn(ctx, scheduled_message_id)
      return { facts: [{ type: 'scheduled-message.deleted', id, userId }], reply: {} }
    },
  },

  apply: {
    'scheduled-message.created': (state, { message }) => state.scheduledMessages.put(message),
    'scheduled-message.edited': (state, { message }) => state.scheduledMessages.put(message),
    'scheduled-message.failed': (state, { message }) => state.scheduledMessages.put(message),
    'scheduled-message.deleted': (state, { id }) => state.scheduledMessages.remove(id),
    'scheduled-message.delivered': (state, { id }) => state.scheduledMessages.remove(id),
  },

  announce: {
    'scheduled-message.created': (_state, { message }) => [
      {
        to: [message.userId],
        event: { type: 'scheduled_messages', op: 'add', scheduled_messages: [presentOne(message)] },
      },
    ],
    'scheduled-message.edited': announceUpdated,
    'scheduled-message.failed': announceUpdated,
    'scheduled-message.deleted': gone,
    'scheduled-message.delivered': gone,
  },

  sections: {
    scheduled_messages: ctx => ({ scheduled_messages: present(ctx) }),
  },
  jobs: [delivery],
})

function checkRoom({ state, actor }: Context, message: ScheduledMessage): void {
  checkWaiting(state.scheduledMessages.where('user', actor.id), message, 'scheduled messages')
}

/** Where and what it says now. What is not given stays, and is checked again with the rest, unless only the topic changes. */
function rewritten(
  ctx: Context,
  { type, to, topic, content: given }: ParamsOf<typeof api.update>,
  old: ScheduledMessage,
) {
  const wasChannel = 'channelId' in old.target
  const isChannel = type === undefined ? wasChannel : type === 'channel' || type === 'stream'
  if (isChannel !== wasChannel) {
    if (to === undefined) throw needed('to', 'when the type changes')
    if (isChannel && topic === undefined) throw needed('topic', 'when the type changes to a channel')
  }
  if (to === undefined && given === undefined)
    return 'channelId' in old.target && topic !== undefined
      ? { target: { ...old.target, topic: isNoTopic(topic) ? '' : normalizeTopic(topic) } }
      : {}
  const before = asGiven(old.target)
  const target = resolveTarget(ctx, {
    type: isChannel ? 'channel' : 'direct',
    to: to ?? before.to,
    topic: topic ?? before.topic,
  })
  const content = given === undefined ? truncateContent(old.content) : messageContent(given)
  return { target: kept(target), content, html: composeMessage(ctx, target, content).html }
}

// --- delivery ---------------------------------------------------------------------------------------------------

function deliver(ctx: Surroundings): Outcome<object> {
  const { state, now } = ctx
  const row = state.scheduledMessages.first
  if (!row || row.due * 1000 > now) return { reply: {} }
  const author = state.users.get(row.userId)!
  if (!author.active) return failure(ctx, row, 'The account is deactivated', false)
  // Late although the daemon was running: the clock was set forward, and the message can still be sent.
  const fellDueAwake = ctx.awakeSince !== undefined && row.due * 1000 >= ctx.awakeSince
  if (now - row.due * 1000 > mostLate && !fellDueAwake)
    return failure(ctx, row, 'Message could not be sent at the scheduled time.')
  try {
    const asAuthor: Context = { ...ctx, actor: author, client: row.client }
    const target = resolveTarget(asAuthor, asGiven(row.target))
    // A row of a snapshot that someone else made can have more than a call may send.
    const { facts, sent } = posting(asAuthor, target, truncateContent(row.content), { readBySender: row.readBySender })
    return {
      facts: [
        ...facts,
        ...replyAsWelcomeBot(asAuthor, author, sent),
        { type: 'scheduled-message.delivered', id: row.id, userId: row.userId },
      ],
      reply: {},
    }
  } catch (refusal) {
    if (!(refusal instanceof Refusal)) throw refusal
    return failure(ctx, row, refusal.message)
  }
}

function failure(ctx: Surroundings, row: ScheduledMessage, reason: string, notify = true): Outcome<object> {
  const planned = `${new Date(row.due * 1000).toISOString().slice(0, 19).replace('T', ' ')}+00:00`
  const notice = [
    `The message you scheduled for <time:${planned}>  was not sent because of the following error:`,
    `> ${reason}`,
    '[View scheduled messages](#scheduled)',
  ]
  return {
    facts: [
      { type: 'scheduled-message.failed', message: { ...row, failed: true, reason } },
      ...(notify ? directNotice(ctx, [row.userId], notice.join('\n\n')) : []),
    ],
    reply: {},
  }
}

// --- rows -------------------------------------------------------------------------------------------------------

function kept(target: Target): ScheduledMessage['target'] {
  return 'channel' in target ? { channelId: target.channel.id, topic: target.topic } : { userIds: target.people }
}

/** As the parameters of a request would say it, so that it is checked like one. */
function asGiven(target: ScheduledMessage['target']): {
  readonly type: string
  readonly to: number | readonly number[]
  readonly topic: string | undefined
} {
  return 'channelId' in target
    ? { type: 'channel', to: target.channelId, topic: target.topic }
    : { type: 'direct', to: target.userIds, topic: undefined }
}

function findOwn(ctx: Context, id: number): ScheduledMessage {
  const message = ctx.state.scheduledMessages.get(id)
  if (message?.userId !== ctx.actor.id) throw missingOwn('scheduled_message_id', 'scheduled message', id)
  return message
}

function announceUpdated(state: State, { message }: { readonly message: ScheduledMessage }): Announcement[] {
  if (!state.users.get(message.userId)!.active) return []
  const event = { type: 'scheduled_messages', op: 'update', scheduled_message: presentOne(message) }
  return [{ to: [message.userId], event }]
}

function gone(_state: State, { id, userId }: { readonly id: number; readonly userId: number }): Announcement[] {
  return [{ to: [userId], event: { type: 'scheduled_messages', op: 'remove', scheduled_message_id: id } }]
}

function present(ctx: Context) {
  return ctx.state.scheduledMessages.ofUser(ctx.actor.id).map(presentOne)
}

/** The empty topic is empty for every client: it is to be edited, not to be shown. */
function presentOne(message: ScheduledMessage): Static<typeof shape> {
  const { id, userId, target, content, html, due, failed } = message
  const others = 'userIds' in target ? target.userIds.filter(other => other !== userId) : []
  return {
    scheduled_message_id: id,
    ...('channelId' in target
      ? { type: 'stream', to: target.channelId, topic: target.topic }
      : { type: 'private', to: others.length > 0 ? others : [userId] }),
    content,
    rendered_content: html,
    scheduled_delivery_timestamp: due,
    failed,
  }
}
