// Reminders: the notification bot says at the given time what one wanted to be reminded of.

import type { Static } from '../../api/define.ts'
import { reminders as api, type reminder as shape } from '../../api/messages/reminders.ts'
import { limits } from '../limits.ts'
import { render } from '../markdown/index.ts'
import type { ReminderFact } from '../model/facts/messages.ts'
import type { Message } from '../model/message-store/index.ts'
import type { Reminder } from '../model/rows/messages.ts'
import type { State } from '../model/state.ts'
import { full, missingOwn, neededOneOf } from '../refusal.ts'
import { type Announcement, type Context, type Job, type Outcome, resource, type Surroundings } from '../resource.ts'
import { seeMessage } from '../rules/index.ts'
import { clean } from '../values/text.ts'
import { futureTime, seconds } from '../values/time.ts'
import { checkVisible } from './messages/access.ts'
import { checkWaiting, truncateContent } from './messages/compose.ts'
import { renderPlace } from './messages/send.ts'
import { directNotice, notificationBot } from './notices/post.ts'
import { attribution, messageLink, quote } from './notices/quote.ts'

/** Seconds until a reminder without a time. */
const usualWait = 3600

const delivery: Job = {
  op: 'deliver-reminder',
  due: state => state.reminders.nextDue,
  run: ctx => deliver(ctx),
}

export const reminders = resource(api)<ReminderFact>({
  commands: {
    list: ctx => ({ reply: { reminders: present(ctx) } }),

    create(ctx, { message_id, scheduled_delivery_timestamp: time, note: given = '' }) {
      if (ctx.state.reminders.where('user', ctx.actor.id).length >= limits.reminders)
        throw full('You', limits.reminders, 'reminders')
      const note = clean('note', given, limits.reminderNote)
      if (message_id === undefined && note === '') throw neededOneOf('message_id', 'note')
      const due = time === undefined ? seconds(ctx.now) + usualWait : futureTime(ctx.now, time)
      const messageId = message_id === undefined ? null : checkVisible(ctx, message_id)
      const content = renderText(ctx, messageId, note)
      const { html } = render(ctx, content, renderPlace(ctx, conversation(ctx)), 'show-plain')
      const { id: userId } = ctx.actor
      const reminder = {
        id: ctx.state.reminders.nextId,
        userId,
        messageId,
        note,
        content,
        html,
        due,
        failed: false,
      }
      checkWaiting(ctx.state.reminders.where('user', userId), reminder, 'reminders')
      return { facts: [{ type: 'reminder.created', reminder }], reply: { reminder_id: reminder.id } }
    },

    delete(ctx, { reminder_id }) {
      const reminder = ctx.state.reminders.get(reminder_id)
      if (reminder?.userId !== ctx.actor.id) throw missingOwn('reminder_id', 'reminder', reminder_id)
      return { facts: [{ type: 'reminder.deleted', id: reminder.id, userId: reminder.userId }], reply: {} }
    },
  },

  apply: {
    'reminder.created': (state, { reminder }) => state.reminders.put(reminder),
    'reminder.failed': (state, { reminder }) => state.reminders.put(reminder),
    'reminder.deleted': (state, { id }) => state.reminders.remove(id),
    'reminder.delivered': (state, { id }) => state.reminders.remove(id),
  },

  announce: {
    'reminder.created': (_state, { reminder }) => [
      { to: [reminder.userId], event: { type: 'reminders', op: 'add', reminders: [presentOne(reminder)] } },
    ],
    'reminder.failed': () => [],
    'reminder.deleted': gone,
    // OPEN: there is an event on delivery too: a client could not know otherwise.
    'reminder.delivered': gone,
  },

  sections: { reminders: ctx => ({ reminders: present(ctx) }) },
  jobs: [delivery],
})

/** However late: a reminder that fell due while the daemon was down is still wanted. */
function deliver(ctx: Surroundings): Outcome<object> {
  const { state, now } = ctx
  const row = state.reminders.first
  if (!row || row.due * 1000 > now) return { reply: {} }
  const actor = state.users.get(row.userId)!
  // OPEN: the reminders of a deactivated account stay, as failed.
  if (!actor.active) return { facts: [{ type: 'reminder.failed', reminder: { ...row, failed: true } }], reply: {} }
  const readable = row.messageId === null || seeMessage.allows({ state, actor }, row.messageId)
  const content = readable ? renderText(ctx, row.messageId, row.note) : row.content
  return {
    facts: [
      ...directNotice(ctx, [row.userId], truncateContent(content)),
      { type: 'reminder.delivered', id: row.id, userId: row.userId },
    ],
    reply: {},
  }
}

function renderText(ctx: Surroundings, messageId: number | null, note: string): string {
  if (messageId === null) return `You requested a reminder:\n${asQuote(note)}`
  const { state } = ctx
  const message = state.messages.get(messageId)!
  const about = message.channelId === undefined ? 'the following direct message' : messageLink(state, message)
  const said = note === '' ? '.' : `. Note:\n${asQuote(note)}`
  return withWords(ctx, message, `You requested a reminder for ${about}${said}\n\n`)
}

function withWords({ state, server }: Surroundings, message: Message, head: string): string {
  const widget = message.details?.submessages?.[0]?.content
  if (widget !== undefined) return `${head}${attribution(state, server.url, message, 'sent')} ${widgetName(widget)}.`
  const before = `${head}${attribution(state, server.url, message, 'said')}:\n`
  return before + quote(message.content, limits.messageContent - [...before].length)
}

function widgetName(content: string): string {
  const type = (JSON.parse(content) as { widget_type?: unknown } | null)?.widget_type
  return type === 'poll' ? 'a poll' : type === 'todo' ? 'a todo list' : 'a widget'
}

function asQuote(note: string): string {
  return note.replace(/^/gm, ' > ')
}

function conversation({ state, actor }: Context) {
  return { people: [actor.id, notificationBot(state).id].sort((a, b) => a - b) }
}

function gone(_state: State, { id, userId }: { readonly id: number; readonly userId: number }): Announcement[] {
  return [{ to: [userId], event: { type: 'reminders', op: 'remove', reminder_id: id } }]
}

function present(ctx: Context) {
  return ctx.state.reminders.ofUser(ctx.actor.id).map(presentOne)
}

function presentOne({ id, userId, messageId, content, html, due, failed }: Reminder): Static<typeof shape> {
  return {
    reminder_id: id,
    type: 'private',
    to: [userId],
    content,
    rendered_content: html,
    scheduled_delivery_timestamp: due,
    failed,
    // OPEN: null for a reminder without a message.
    reminder_target_message_id: messageId,
  }
}
