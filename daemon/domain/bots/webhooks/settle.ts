// Turns the answer of a bot's server into facts: a reply in the conversation, another attempt, or a notice of failure.

import { longestKept, tooLarge } from '../../../api/bounds.ts'
import { record, textUpTo } from '../../../api/define.ts'
import type { Fact } from '../../facts.ts'
import { messageContent } from '../../messages/messages/compose.ts'
import { posting, sentBySystem, type Target } from '../../messages/messages/send.ts'
import { buildAddress } from '../../messages/notices/quote.ts'
import { isUnread } from '../../model/message-reader.ts'
import type { WebhookDelivery } from '../../model/rows/messages.ts'
import type { OutgoingService, State, User } from '../../model/state.ts'
import { Refusal } from '../../refusal.ts'
import type { Surroundings } from '../../resource.ts'
import { fenceAround } from '../../values/text.ts'
import { deliveriesKept } from './trigger.ts'

export type Attempt =
  | { readonly kind: 'answered'; readonly status: number; readonly body: string }
  /** No connection, or no answer in time: worth another try. */
  | { readonly kind: 'unreachable'; readonly reason: string }
  | { readonly kind: 'impossible'; readonly reason: string }
  /** The bot or the message is gone. */
  | { readonly kind: 'pointless' }

/** Milliseconds until the second, third and fourth attempt. */
const backOff = [1000, 5000, 25_000]
const shownResponse = 1000
const replyClient = 'OutgoingWebhookResponse'

/** Facts of an attempt that has come to its end. Whatever the answer is, the attempt counts. */
export function settle(surroundings: Surroundings, delivery: WebhookDelivery, attempt: Attempt): Fact[] {
  try {
    return decideOutcome(surroundings, delivery, attempt)
  } catch (error) {
    if (attempt.kind !== 'answered') throw error
    return decideOutcome(surroundings, delivery, {
      kind: 'impossible',
      reason: 'The answer of the bot’s server cannot be used',
    })
  }
}

function decideOutcome(surroundings: Surroundings, delivery: WebhookDelivery, attempt: Attempt): Fact[] {
  const ctx = { ...surroundings, client: replyClient }
  const attempts = delivery.attempts + 1
  const pause = backOff[delivery.attempts]
  if (attempt.kind === 'unreachable' && pause !== undefined)
    return [update(ctx.state, { ...delivery, attempts, due: ctx.now + pause, error: attempt.reason })]
  const { error: _before, ...rest } = delivery
  const done = { ...rest, attempts, due: null }
  if (attempt.kind === 'pointless')
    return [update(ctx.state, { ...done, status: 'failed', error: 'The bot or the message is gone' })]
  const bot = ctx.state.users.get(delivery.botId)!
  const target = findTarget(ctx.state, delivery.messageId)
  const outcome = target ? replyTo(ctx, bot, target, attempt) : { facts: [] }
  const failure = 'failure' in outcome ? outcome : undefined
  return [
    update(ctx.state, {
      ...done,
      status: failure ? 'failed' : 'delivered',
      ...(attempt.kind === 'answered' && { httpStatus: attempt.status, response: beginning(attempt.body) }),
      ...(failure && { error: failure.detail }),
    }),
    ...readByBot(ctx.state, delivery),
    ...('facts' in outcome ? outcome.facts : notices(ctx, bot, target!, delivery, outcome, attempt)),
  ]
}

function update(state: State, delivery: WebhookDelivery): Fact {
  const finished = delivery.due === null ? state.webhookDeliveries.where('finished', 1) : []
  const forgotten = finished.slice(0, Math.max(0, finished.length + 1 - deliveriesKept)).map(({ id }) => id)
  return { type: 'webhook.attempted', delivery, ...(forgotten.length > 0 && { forgotten }) }
}

interface Failure {
  /** What everyone in the conversation reads. */
  readonly failure: string
  /** What the log says. */
  readonly detail: string
  /** What the owner of the bot reads; the detail when absent. */
  readonly told?: string
}

function replyTo(ctx: Surroundings, bot: User, target: Target, attempt: Attempt): Failure | { facts: Fact[] } {
  if (attempt.kind === 'unreachable') return { failure: 'Failure! Bot is unavailable', detail: attempt.reason }
  if (attempt.kind !== 'answered') {
    const reason = attempt.kind === 'impossible' ? attempt.reason : ''
    return { failure: `Failure! ${reason}`, detail: reason }
  }
  const { status } = attempt
  if (status < 200 || status > 299) {
    const redirected = status >= 300 && status < 400 ? '; redirects are not followed' : ''
    const why = status === 407 ? ', which means that the daemon may not reach this network' : redirected
    return {
      failure: `Failure! Third party responded with ${status}`,
      detail: `The server answered with status ${status}${why}`,
      told:
        status === 407
          ? 'The URL configured for the webhook is for a private or disallowed network.'
          : `The webhook got a response with status code *${status}*.`,
    }
  }
  const answer = understood(attempt.body, (bot.bot!.service as OutgoingService).interface === 2)
  if ('problem' in answer) return unusable(answer.problem, answer.detail)
  if (answer.content.includes('\0') || !answer.content.isWellFormed())
    return unusable('The reply could not be posted: its text cannot be stored')
  if (answer.content.trim() === '' || ('channel' in target && target.channel.archived)) return { facts: [] }
  try {
    const actor = { ...ctx, actor: bot }
    return { facts: [...posting(actor, target, messageContent(answer.content), { widget: answer.widget }).facts] }
  } catch (refusal) {
    if (!(refusal instanceof Refusal)) throw refusal
    return unusable(refusal.message, `The reply could not be posted: ${refusal.message}`)
  }
}

function unusable(problem: string, detail = problem): Failure {
  const told = `The outgoing webhook server attempted to send a message in Zulip, but that request resulted in the following error:\n> ${problem}`
  return { failure: `Failure! ${problem}`, detail, told }
}

/** Texts that are too long for a message are cut like those of people. */
const long = textUpTo(longestKept)
const answerShape = record({ content: long, response_string: long, text: long })

type Answer =
  | { readonly content: string; readonly widget?: string | undefined }
  | { readonly problem: string; readonly detail?: string }

/** OPEN: what a bot's server must return is not shown; the forms of the public API family are understood. */
function understood(body: string, slack: boolean): Answer {
  let answer: unknown
  try {
    answer = JSON.parse(body)
  } catch {
    return { problem: 'Invalid JSON in response', detail: 'The bot’s server did not answer with JSON' }
  }
  if (answer === '') return { content: '' }
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer))
    return { problem: 'Invalid response format', detail: 'The bot’s server answered with JSON that is not an object' }
  const large = tooLarge('The answer', answerShape, answer)
  if (large !== undefined) return { problem: `The bot’s server answered with too much JSON. ${large}` }
  const { response_not_required, response_string, content, text, widget_content } = answer as Record<string, unknown>
  if (response_not_required === true) return { content: '' }
  if (slack) return { content: words(text) }
  if (response_string !== undefined && response_string !== null) return { content: words(response_string) }
  const widget = typeof widget_content === 'object' && widget_content ? JSON.stringify(widget_content) : widget_content
  return { content: words(content), widget: typeof widget === 'string' && widget !== '' ? widget : undefined }
}

function words(value: unknown): string {
  if (value === undefined || value === null) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** Where the message is now; undefined when it is gone. */
function findTarget({ messages, channels, conversations }: State, id: number): Target | undefined {
  const message = messages.get(id)
  if (!message) return undefined
  if (message.channelId === undefined) return { people: conversations.get(message.conversationId!)!.userIds }
  const channel = channels.get(message.channelId)
  return channel && { channel, topic: message.topic! }
}

function readByBot(state: State, { botId, messageId }: WebhookDelivery): Fact[] {
  if (!state.messages.has(messageId) || !isUnread(state, botId, messageId)) return []
  return [{ type: 'message-flags.changed', userId: botId, op: 'add', flag: 'read', runs: [messageId, messageId] }]
}

function notices(
  ctx: Surroundings,
  bot: User,
  target: Target,
  { messageId }: WebhookDelivery,
  { failure, detail, told = detail }: Failure,
  attempt: Attempt,
): Fact[] {
  const gone = 'channel' in target && target.channel.archived
  const here = gone ? [] : [sentBySystem(ctx, bot, target, failure)]
  const owner = bot.bot!.ownerId === null ? undefined : ctx.state.users.get(bot.bot!.ownerId)
  if (!owner?.active) return here
  // A whole address: the message also goes out by mail.
  const link = ctx.server.url + buildAddress(ctx.state, ctx.state.messages.get(messageId)!)
  const body =
    attempt.kind === 'answered' && attempt.body !== ''
      ? `\nThe response contains the following payload:\n${fence(quoteBody(beginning(attempt.body)))}`
      : ''
  const people = { people: [bot.id, owner.id].sort((a, b) => a - b) }
  const text = `[A message](${link}) to your bot @_**${bot.fullName}** triggered an outgoing webhook.\n${told}${body}`
  return [...here, sentBySystem(ctx, bot, people, text)]
}

function fence(text: string): string {
  const fence = fenceAround(text)
  return `${fence}\n${text}\n${fence}`
}

/** On one line, as the public server quotes it. */
function quoteBody(text: string): string {
  const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' }
  const line = text.replace(/[\\\n\r\t]/g, char => escapes[char]!)
  return line.includes("'") && !line.includes('"') ? `"${line}"` : `'${line.replaceAll("'", "\\'")}'`
}

function beginning(body: string): string {
  const text = body.replaceAll('\0', '')
  return text.length <= shownResponse ? text : `${[...text].slice(0, shownResponse).join('')}…`
}
