// Answers "why": which step kept an account from receiving a message, computed from what was true when it was sent.

import type { explainedQueue } from '../api/control/why.ts'
import type { Static } from '../api/define.ts'
import {
  explainAccess,
  explainAccount,
  explainMute,
  explainOldSubscription,
  explainSubscription,
  isCalled,
  type Sent,
  type Step,
} from '../domain/messages/messages/reception.ts'
import type { User } from '../domain/model/state.ts'
import { missingOwn } from '../domain/refusal.ts'
import type { ControlPlane } from './control-plane.ts'
import type { Delivery } from './deliveries.ts'
import type { QueueLife, SentMessage } from './history.ts'
import { Slices } from './recent.ts'
import { presentStep } from './rule-names.ts'

interface Part {
  readonly received: boolean | null
  readonly life: QueueLife
  readonly steps: readonly Step[]
}

export function explainMessage(plane: ControlPlane, messageId: number, user: User) {
  const { history, engine } = plane
  history.catchUp()
  const known = history.message(messageId)
  const sent = known ?? presentMessage(plane, messageId)
  // What was sent before the log begins is explained with what is known now.
  const complete = known !== undefined && known.position >= history.rows.reach
  const state = complete ? history.rows.stateAt(known.position) : engine.state
  const lives = known ? history.listQueues(user.id).filter(life => coversEnd(life, known.position)) : []
  const parts = lives.map(life => explainQueue(plane, known!, life))
  const isOverhearing = lives.some(({ queue }) => queue.allPublicStreams || queue.narrow.length > 0)
  const decisions = [
    explainAccount(state, user, !complete || history.rows.existed(user.id, known.position)),
    explainAccess(state, user, sent),
    complete ? explainSubscription(state, user, sent, isOverhearing) : explainOldSubscription(state, user, sent),
  ]
  const refusing = decisions.find(({ ok }) => ok === false)
  // One that received it comes first: it decides what is said at the beginning.
  parts.sort((a, b) => Number(b.received) - Number(a.received))
  const queues = refusing ? [] : [explainQueues(user, complete, lives), ...parts.flatMap(part => part.steps)]
  const deliveries = user.bot?.type === 3 ? plane.deliveries.ofMessage(messageId, user.id) : []
  const webhook = explainWebhook(user, deliveries, sent, engine.state.users.get(sent.senderId))
  const mute = refusing ? [] : [explainMute(state, user, sent)]
  const mention = refusing ? [] : explainMention(user, sent)
  const steps = [...decisions, ...queues, ...mute, ...mention, ...webhook]
  const received = refusing ? false : complete ? parts.some(part => part.received) : null
  const summary = summarize(user, messageId, received, received ? parts[0]!.steps : steps, deliveries, complete)
  const ignored = received ? mention.filter(({ ok }) => ok === null) : []
  return {
    summary: [summary, ...ignored.map(({ says }) => says)].join(' '),
    complete,
    steps: steps.map(presentStep),
    received,
    message_id: messageId,
    user: user.email,
    user_id: user.id,
    sent: sent.time * 1000,
    position: known?.position ?? null,
    queues: parts.map(part => presentPart(part, refusing !== undefined)),
    ...(deliveries.length > 0 && { webhooks: deliveries as never }),
  }
}

/** How many accounts one answer is about. */
const mostAccounts = 100

/**
 * One step for each account that is active now and no part of the server, in the order of their IDs. Other requests get their turn
 * meanwhile.
 */
export async function explainToAll(plane: ControlPlane, messageId: number) {
  const users = [...plane.engine.state.users.values()].filter(({ active, bot }) => active && !bot?.system)
  const slices = new Slices()
  const all: Pick<ReturnType<typeof explainMessage>, 'summary' | 'complete' | 'received' | 'user'>[] = []
  for (const user of users.slice(0, mostAccounts)) {
    await slices.take()
    const { summary, complete, received, user: email } = explainMessage(plane, messageId, user)
    all.push({ summary, complete, received, user: email })
  }
  const count = all.filter(({ received }) => received).length
  const of = users.length > all.length ? `the first ${all.length} of ${users.length}` : `${all.length}`
  return {
    summary: `${count} of ${of} accounts received message ${messageId}. Name one of them to see the steps.`,
    complete: all.every(({ complete }) => complete),
    steps: all.map(({ user, received, summary }) => ({ step: user, ok: received, says: summary })),
    message_id: messageId,
  }
}

/** A message from before the log begins, as it is now. */
function presentMessage({ engine: { state } }: ControlPlane, id: number): Sent {
  const message = state.messages.get(id)
  if (!message) throw missingOwn('message', 'message', id)
  const { channelId, details: { mentioned, sentTo } = {} } = message
  const sent = { ...message, ...(mentioned && { mentioned }) }
  return channelId === undefined ? sent : { ...sent, channelId: sentTo ?? channelId }
}

/** Whether the queue existed when the entry at this position was announced. */
function coversEnd({ from, ended }: QueueLife, position: number): boolean {
  return from < position && (ended === undefined || ended.position > position)
}

function explainQueues(user: User, complete: boolean, { length }: readonly QueueLife[]): Step {
  const step = 'queue'
  if (!complete) return { step, ok: null, says: 'Which event queues existed at that time is no longer known.' }
  if (length === 0) return { step, ok: false, says: `${user.email} had no event queue when the message was sent.` }
  const queues = length === 1 ? 'an event queue' : `${length} event queues`
  return { step, ok: true, says: `${user.email} had ${queues} when the message was sent.` }
}

function explainQueue({ history }: ControlPlane, sent: SentMessage, life: QueueLife): Part {
  const { queue, ended } = life
  const steps: Step[] = []
  const stop = (received: boolean | null) => ({ received, life, steps })
  const types = queue.eventTypes
  const takesType = types === null || types.includes('message')
  const by = queue.clientName === undefined ? '' : ` of ${queue.clientName}`
  const asked = types === null ? 'all event types' : types.join(', ') || 'none'
  steps.push({ step: 'event type', ok: takesType, says: `Queue ${queue.id}${by} asks for ${asked}.` })
  if (!takesType) return stop(false)
  const progress = history.findProgress(life)
  if (queue.narrow.length > 0) {
    const says = `The narrow of the queue is ${JSON.stringify(queue.narrow)}`
    const fits = progress === undefined ? null : !sent.passedOver.includes(queue.id)
    const result =
      fits === null
        ? 'whether it takes the message is not known'
        : fits
          ? 'it takes the message'
          : 'it does not take the message'
    steps.push({ step: 'narrow', ok: fits, says: `${says}: ${result}.` })
    if (!fits) return stop(fits)
  } else steps.push({ step: 'narrow', ok: true, says: 'The queue has no narrow.' })
  steps.push({ step: 'capability', ok: true, says: 'Events of type message need no client capability.' })
  if (!progress) {
    steps.push({
      step: 'delivery',
      ok: null,
      says: 'The daemon was restarted since; what the client read is not known.',
    })
    return stop(true)
  }
  const isAcknowledged = sent.position < progress.waitingFrom
  const isDelivered = isAcknowledged || sent.position <= progress.deliveredTo
  const after = ended ? ` before the queue ended (${ended.reason})` : ' yet'
  steps.push({
    step: 'delivery',
    ok: isDelivered,
    says: isDelivered ? 'A poll was answered with the event.' : `No poll was answered with the event${after}.`,
  })
  steps.push({
    step: 'acknowledgement',
    ok: isAcknowledged,
    says: isAcknowledged
      ? 'The client acknowledged the event with a later poll.'
      : `The client has not acknowledged the event${after}.`,
  })
  return stop(true)
}

/** Bots see every message of their channels, and most answer only those for them. */
function explainMention(user: User, sent: Sent): Step[] {
  const { id, email, bot } = user
  if (!bot || bot.type === 3 || sent.channelId === undefined) return []
  const step = 'mention'
  if (sent.mentioned?.includes(id) || isCalled(user, sent))
    return [{ step, ok: true, says: `The message mentions ${email}.` }]
  const says = `The message does not mention ${email}: natter bot run and runBot ignore it, unless they take every message.`
  return [{ step, ok: null, says }]
}

function explainWebhook(user: User, deliveries: readonly Delivery[], sent: Sent, sender: User | undefined): Step[] {
  if (user.bot?.type !== 3) return []
  const [first] = deliveries
  if (!first) {
    const why = sender?.bot
      ? 'messages of bots do not call outgoing webhooks'
      : sent.channelId === undefined
        ? 'the bot was not active, or has no address to call'
        : 'the message does not mention the bot'
    return [{ step: 'trigger', ok: false, says: `The outgoing webhook was not called: ${why}.` }]
  }
  const trigger = first.trigger === 'mention' ? 'mentions the bot' : 'is a direct message to the bot'
  const attempts = `${first.attempts} ${first.attempts === 1 ? 'attempt' : 'attempts'}`
  const answer = first.error ?? (first.http_status === null ? 'no answer yet' : `status ${first.http_status}`)
  return [
    { step: 'trigger', ok: true, says: `The message ${trigger}.` },
    {
      step: 'webhook',
      ok: first.status === 'waiting' ? null : first.status === 'delivered',
      says: `The server of the bot was called: ${first.status} after ${attempts}, ${answer}.`,
    },
  ]
}

function summarize(
  { email }: User,
  messageId: number,
  received: boolean | null,
  steps: readonly Step[],
  deliveries: readonly Delivery[],
  complete: boolean,
): string {
  const unless = complete ? '' : ' The log does not reach back to it, so this is about the organization as it is now.'
  if (received) {
    const last = steps.find(({ step, ok }) => (step === 'delivery' || step === 'acknowledgement') && ok === false)
    return `${email} received message ${messageId}${last ? `. ${last.says}` : ', and acknowledged it.'}`
  }
  const [called] = deliveries
  if (called) return `The server of ${email} was called for message ${messageId}: ${called.status}.`
  const stopped = steps.find(({ ok }) => ok === false)
  if (stopped) return `${email} did not receive message ${messageId}: ${lowerFirst(stopped.says, email)}${unless}`
  return `No step kept ${email} from receiving message ${messageId}.${unless}`
}

/** The sentence goes on; names stay as they are. */
function lowerFirst(says: string, email: string): string {
  return says.startsWith(email) ? says : says[0]!.toLowerCase() + says.slice(1)
}

function presentPart({ received, life, steps }: Part, isRefused: boolean): Static<typeof explainedQueue> {
  return {
    queue_id: life.queue.id,
    client: life.queue.clientName ?? null,
    received: isRefused ? false : received,
    ...(life.ended && { ended: life.ended.reason }),
    // Where the account was not to receive it, what the queue would have taken does not matter.
    steps: isRefused ? [] : steps.map(presentStep),
  }
}
