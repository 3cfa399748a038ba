// The endpoints of the event queues: register, read by long poll, delete.

import type { ParamsOf } from '../api/define.ts'
import { events as api } from '../api/events.ts'
import { queueIdOf } from '../api/queue-ids.ts'
import { revealSecrets } from '../domain/bots/secrets.ts'
import { missingQueue, planQueue } from '../domain/events/registration.ts'
import type { QueueRegistration } from '../domain/model/rows/queues.ts'
import { conflict, invalid, needed } from '../domain/refusal.ts'
import type { AnyResource, Context, Outcome } from '../domain/resource.ts'
import type { Engine } from '../engine.ts'
import { buildClient } from '../events/adapt.ts'
import { joinFlagChanges, sentWithLater } from '../events/collapse.ts'
import { idStep, positionOf } from '../events/event-ids.ts'
import { type EventText, numberEvent, readEvent, writeEvent } from '../events/event-text.ts'
import type { Pending, Queue, Waiter } from '../events/queue.ts'
import { refuse, send, success } from './answer.ts'
import type { EdgeParts } from './edge-parts.ts'
import type { Answering, Forwarding } from './exchange.ts'
import { type Attempt, once } from './idempotency.ts'
import { notCaughtUp } from './to-leader.ts'

interface QueueCall {
  readonly ctx: Context
  readonly answering: Answering
  readonly ignored: readonly string[]
  readonly attempt?: Attempt | undefined
}

type RegisterParams = ParamsOf<typeof api.register>
type GetParams = ParamsOf<typeof api.get>

type QueueParts = Pick<EdgeParts, 'engine' | 'resources' | 'maxQueuesPerUser' | 'forwarding'>

export class QueueEndpoints {
  readonly #engine: Engine
  readonly #resources: readonly AnyResource[]
  readonly #maxPerUser: number
  /** In a cluster. */
  readonly #forwarding: Pick<Forwarding, 'catchUp'> | undefined

  constructor({ engine, resources, maxQueuesPerUser, forwarding }: QueueParts) {
    this.#engine = engine
    this.#resources = resources
    this.#maxPerUser = maxQueuesPerUser
    this.#forwarding = forwarding
  }

  async register({ ctx, answering, ignored }: QueueCall, params: RegisterParams): Promise<void> {
    const queue = this.#registration(ctx, params)
    // The state is read in the turn in which the queue is registered, so that every later change is an event, and no earlier one is.
    const reply = await this.#engine.run(api.register.id, ctx.actor.id, () => ({
      facts: [{ type: 'queue.registered', queue }],
      reply: {
        queue_id: queue.id,
        last_event_id: -1,
        ...ctx.server.level.reported,
        ...ctx.server.level.state({
          ...this.#sections(ctx, params, queue),
          idle_queue_timeout_secs: queue.lifespan / 1000,
        }),
      },
    }))
    success(answering, reply, ignored)
  }

  async get(poll: QueueCall, params: GetParams): Promise<void> {
    const { ctx, answering, ignored } = poll
    if (ctx.dialect === 'zulip') requireLikePublicServers(params)
    if (params.queue_id === undefined) {
      const queue = this.#registration(ctx, { ...params, client_capabilities: mergeCapabilities(params) })
      await this.#engine.record(api.register.id, ctx.actor.id, [{ type: 'queue.registered', queue }])
      success(answering, { events: [], queue_id: queue.id }, ignored)
      return
    }
    await this.#expect(params.queue_id)
    const found = this.#findOwn(ctx, params.queue_id)
    this.#engine.queues.touch(found)
    await this.#acknowledge(ctx, found, params.last_event_id)
    // Another request may have deleted the queue while this one waited for the disk.
    const queue = this.#findOwn(ctx, params.queue_id)
    const events = this.#engine.queues.ready(queue)
    if (events.length > 0 || params.dont_block) answerPoll(poll, queue, events)
    else this.#wait(poll, queue)
  }

  async delete(sent: QueueCall, { queue_id }: ParamsOf<typeof api.delete>): Promise<void> {
    const { ctx, answering, ignored, attempt } = sent
    const decide = (): Outcome<object> => {
      this.#findOwn(ctx, queue_id)
      return { facts: [{ type: 'queue.removed', queueId: queue_id, reason: 'deleted' }], reply: {} }
    }
    const reply = await this.#engine.run(api.delete.id, ctx.actor.id, state =>
      attempt ? once(attempt, { ...ctx, state }, answering.headers, decide) : decide(),
    )
    success(answering, reply, ignored)
  }

  #wait(poll: QueueCall, queue: Queue): void {
    const { raw } = poll.answering
    // The client closed its connection during the write to disk. Without this check its events would be lost, and the queue would count
    // as polled.
    if (raw.destroyed) return
    const waiter: Waiter = {
      answer(events) {
        try {
          answerPoll(poll, queue, events)
        } catch (error) {
          // Ends the request of a client that would otherwise wait without end.
          raw.destroy()
          throw error
        }
      },
      refuse: refusal => refuse(poll.answering, refusal),
    }
    this.#engine.queues.addWaiter(queue, waiter)
    poll.answering.watched?.pollWaits()
    if (poll.answering.observed) poll.answering.observed.waited = true
    raw.once(
      'close',
      this.#engine.boundary.guard(() => this.#engine.queues.removeWaiter(queue, waiter)),
    )
  }

  async #acknowledge(ctx: Context, queue: Queue, upTo: number | undefined): Promise<void> {
    // Nothing to acknowledge: no parameter, or -1 before the first event.
    if (upTo === undefined || (upTo < 0 && queue.acknowledged < 0)) return this.#engine.settled()
    if (upTo < queue.acknowledged)
      throw conflict('last_event_id', `events up to ${queue.acknowledged} have already been deleted`)
    if (upTo > queue.newest && !(await this.#engine.reach(positionOf(queue, upTo))))
      throw invalid('last_event_id', `this queue has no event ${upTo} yet`)
    const kept = sentWithLater(queue, upTo)
    const seen = queue.pending.filter(event => event.id <= upTo)
    if (seen.some(event => event.lasting) || this.#engine.queues.fillsOthers(queue, seen))
      await this.#engine.record(api.get.id, ctx.actor.id, [
        { type: 'queue.acknowledged', queueId: queue.id, upTo, ...(kept && { kept }) },
      ])
    else {
      this.#engine.queues.forget(queue, upTo, kept)
      await this.#engine.settled()
    }
  }

  /** Another daemon of the cluster may have registered the queue, and clients take its absence for its end. */
  async #expect(queueId: string): Promise<void> {
    if (!this.#forwarding || this.#engine.queues.get(queueId)) return
    if (!(await this.#forwarding.catchUp())) throw notCaughtUp('event queue')
    this.#engine.mustBeOpen()
  }

  #findOwn(ctx: Context, queueId: string): Queue {
    const queue = this.#engine.queues.get(queueId)
    if (queue?.userId !== ctx.actor.id) throw missingQueue(queueId)
    return queue
  }

  #registration(ctx: Context, params: RegisterParams | GetParams): QueueRegistration {
    const { queues, restoreId, budget } = this.#engine
    budget?.check(ctx.state, ctx.actor.id)
    const count = { owned: queues.countOwned(ctx.actor.id), most: this.#maxPerUser }
    return { ...planQueue(ctx, params, count), id: queueIdOf(ctx.random(), restoreId), step: idStep }
  }

  #sections(ctx: Context, params: RegisterParams, queue: QueueRegistration): object {
    const wanted = params.fetch_event_types ?? params.event_types ?? null
    const asked = { ...buildClient(queue), fetched: wanted, presenceHistoryDays: params.presence_history_limit_days }
    const state = {}
    for (const resource of this.#resources)
      for (const [name, section] of Object.entries(resource.sections ?? {}))
        if (!wanted || wanted.includes(name)) Object.assign(state, section(ctx, asked))
    return state
  }
}

function answerPoll({ ctx, answering, ignored }: QueueCall, queue: Queue, events: readonly Pending[]): void {
  const joined = joinFlagChanges(queue, events)
  queue.delivered = Math.max(queue.delivered, events.at(-1)?.id ?? -1)
  let list = ''
  for (const event of joined) list += `${list && ','}${numberEvent(event.id, withSecrets(ctx, event))}`
  const more = ignored.length > 0 ? `,"ignored_parameters_unsupported":${JSON.stringify(ignored)}` : ''
  const body = `{"result":"success","msg":"","events":[${list}],"queue_id":"${queue.id}"${more}}`
  send(useDialect(queue, answering), 200, body)
}

/** Events are in the dialect of the registration, even if another program polls the queue. */
function useDialect({ dialect }: Queue, answering: Answering): Answering {
  return dialect === undefined || dialect === answering.dialect ? answering : { ...answering, dialect }
}

/** The event with the secrets that its queue does not keep, if the reader may still have them. */
function withSecrets(ctx: Context, { body, secretsOf }: Pending): EventText {
  if (secretsOf === undefined) return body
  const event = readEvent(body)
  const bot = revealSecrets(ctx, secretsOf, event.bot)
  return bot === event.bot ? body : writeEvent({ ...event, bot })
}

/** Capabilities can also be given as parameters of their own. */
function mergeCapabilities(params: GetParams): Readonly<Record<string, unknown>> {
  return { notification_settings_null: false, ...params.client_capabilities, ...params }
}

/** Parameters that public servers require, though the spec does not. */
function requireLikePublicServers({ queue_id, last_event_id, dont_block }: GetParams): void {
  if (queue_id === undefined && !dont_block) throw needed('queue_id', 'unless dont_block is true')
  if (queue_id !== undefined && last_event_id === undefined) throw needed('last_event_id', 'with queue_id')
}
