// The past, for `why`: who could receive each message, and the life of every event queue. Fed by the facts, those that a start
// replays too, so it reaches back as far as the journal does, within bounds.

import type { Fact } from '../domain/facts.ts'
import type { Sent } from '../domain/messages/messages/reception.ts'
import { RowHistory } from '../domain/model/row-history.ts'
import type { QueueRegistration } from '../domain/model/rows/queues.ts'
import type { State } from '../domain/model/state.ts'
import { Table } from '../domain/model/table.ts'
import type { Engine } from '../engine.ts'
import type { Queue } from '../events/queue.ts'

export interface SentMessage extends Sent {
  readonly position: number
  /** IDs of queues whose narrow did not take it. */
  readonly passedOver: string[]
}

/** How far a queue has come: events from one position on wait, those up to another one were in an answer. */
export interface Progress {
  readonly waitingFrom: number
  readonly deliveredTo: number
}

export interface QueueLife {
  readonly queue: QueueRegistration
  readonly from: number
  readonly ended?: {
    readonly position: number
    readonly reason: string
    /** Absent where a start left the queue out, because it had ended by then: what it took is not known. */
    readonly progress?: Progress
  }
}

/** Messages and ended queues that are remembered. */
const mostMessages = 100_000
const mostEnded = 10_000
/** Of one message. */
const mostPassedOver = 1000
/** Of all messages: IDs of queues that passed them over, and of the accounts that they call and mention. */
const mostListed = 1_000_000

export class History {
  readonly rows = new RowHistory()
  readonly #engine: () => Engine
  #messages: SentMessage[] = []
  #listed = 0
  #queues = noQueues()
  #ended: string[] = []

  constructor(engine: () => Engine) {
    this.#engine = engine
  }

  /** A fact is about to be applied. */
  take(state: State, position: number, fact: Fact): void {
    if (state !== this.rows.state) this.#begin(state, position - 1)
    this.rows.moveTo(position)
    if (fact.type === 'message.sent') this.#sent(position, fact)
    else if (fact.type === 'queue.registered') this.#registered(fact.queue, position)
    else if (fact.type === 'queue.removed') this.#end(fact.queueId, position, fact.reason)
    else if (fact.type === 'user.deactivated' || fact.type === 'user.reactivated')
      for (const { id } of this.#engine().queues.ofUser(fact.userId)) this.#end(id, position, 'account deactivated')
  }

  /** The narrow of this queue did not take the message that was taken last. */
  passedOver(queueId: string): void {
    const list = this.#messages.at(-1)?.passedOver
    if (!list || list.length >= mostPassedOver) return
    list.push(queueId)
    this.#listed++
  }

  /** After a state was restored, nothing of what was before it counts any more. */
  catchUp(): void {
    const { state, position } = this.#engine()
    if (state !== this.rows.state) this.#begin(state, position)
  }

  message(id: number): SentMessage | undefined {
    let [low, high] = [0, this.#messages.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#messages[middle]!.id < id) low = middle + 1
      else high = middle
    }
    const found = this.#messages[low]
    return found?.id === id ? found : undefined
  }

  /** Every queue of the account that is remembered, oldest first. */
  listQueues(userId: number): QueueLife[] {
    return this.#queues.where('user', userId)
  }

  /** undefined where it is not known. */
  findProgress({ queue, ended }: QueueLife): Progress | undefined {
    const alive = ended ? undefined : this.#engine().queues.get(queue.id)
    return ended?.progress ?? (alive && measureProgress(alive))
  }

  #begin(state: State, position: number): void {
    this.rows.follow(state, position)
    this.#messages = []
    this.#listed = 0
    this.#queues = noQueues()
    this.#ended = []
    for (const queue of this.#engine().queues.values()) this.#queues.put({ queue, from: queue.birth })
  }

  #sent(position: number, { message, called }: Extract<Fact, { type: 'message.sent' }>): void {
    const { id, senderId, channelId, conversationId, topic, time } = message
    const mentioned = message.details?.mentioned
    const place = channelId === undefined ? { conversationId: conversationId! } : { channelId, topic: topic! }
    const listed = { ...(called && { called }), ...(mentioned && { mentioned }) }
    this.#messages.push({ id, senderId, time, ...place, ...listed, position, passedOver: [] })
    this.#listed += countListed(this.#messages.at(-1)!)
    if (this.#messages.length < 2 * mostMessages && this.#listed < mostListed) return
    this.#messages = this.#messages.slice(this.#messages.length / 2)
    this.#listed = this.#messages.reduce((sum, sent) => sum + countListed(sent), 0)
  }

  #registered(queue: QueueRegistration, position: number): void {
    this.#queues.put({ queue, from: position })
  }

  #end(queueId: string, position: number, reason: string): void {
    const life = this.#queues.get(queueId)
    if (!life || life.ended) return
    const queue = this.#engine().queues.get(queueId)
    const progress = queue && { progress: measureProgress(queue) }
    this.#queues.put({ ...life, ended: { position, reason, ...progress } })
    this.#ended.push(queueId)
    if (this.#ended.length <= mostEnded) return
    for (const id of this.#ended.splice(0, mostEnded / 2)) this.#queues.remove(id)
  }
}

function noQueues() {
  return new Table(({ queue }: QueueLife) => queue.id, { user: ({ queue }: QueueLife) => queue.userId })
}

function countListed({ passedOver, called = [], mentioned = [] }: SentMessage): number {
  return passedOver.length + called.length + mentioned.length
}

function measureProgress({ pending, delivered }: Queue): Progress {
  return {
    waitingFrom: pending[0]?.position ?? Number.POSITIVE_INFINITY,
    deliveredTo: pending.findLast(({ id }) => id <= delivered)?.position ?? 0,
  }
}
