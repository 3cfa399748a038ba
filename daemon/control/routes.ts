// The routes of the control plane, /control/v1/*. JSON both ways; who holds the token may do everything.

import type { FastifyReply, FastifyRequest } from 'fastify'
import { parseDuration } from '../api/durations.ts'
import type { User } from '../domain/model/state.ts'
import { badRequest, malformed, noSuch, Refusal, unauthenticated } from '../domain/refusal.ts'
import type { Queue } from '../events/queue.ts'
import { missingPath, wrongMethod } from '../http/answer.ts'
import { controlPrefix } from '../http/incoming.ts'
import type { ControlPlane } from './control-plane.ts'
import { faultKinds, readRule } from './faults.ts'
import type { Log, Numbered, Recent } from './recent.ts'
import { userOf, waitFor } from './wait.ts'

type Sent = Readonly<Record<string, unknown>>
type Handler = (sent: Sent, name: string) => object | Promise<object>

export interface ControlParts {
  readonly plane: ControlPlane
  /** Whether an endpoint goes by this operation ID, or by this method and path. */
  readonly knows: (endpoint: string) => boolean
}

/** Answers every path below the prefix: the server has one route for all worlds and asks the one that is meant. */
export function controlHandler({ plane, knows }: ControlParts) {
  const known = handlers(plane, knows)
  return async (request: FastifyRequest, reply: FastifyReply): Promise<object> => {
    try {
      const { keys } = plane.parts
      admit(request, token => keys.sameSecret(token, keys.controlToken))
      const { handler, name } = find(known, request.method, request.url)
      return { result: 'success', msg: '', ...(await handler(sentBy(request), name)) }
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      reply.code(error.status)
      return { result: 'error', msg: error.message, code: error.code, ...error.fields }
    }
  }
}

/** The handler of this path, and what stands in the place of `:name`. */
function find(known: Record<string, Handler>, method: string, url: string): { handler: Handler; name: string } {
  const path = url.slice(controlPrefix.length).split('?', 1)[0]!
  const allowed: string[] = []
  for (const [route, handler] of Object.entries(known)) {
    const [wanted, form] = route.split(' ') as [string, string]
    const found = new RegExp(`^${form.replace(':name', '([^/]+)')}$`).exec(path)
    if (found && wanted === method) return { handler, name: decoded(found[1] ?? '') }
    if (found) allowed.push(wanted)
  }
  if (allowed.length === 0) throw missingPath(`${controlPrefix}${path}`)
  throw wrongMethod(method, allowed)
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name)
  } catch {
    throw badRequest(`${name}: not an encoded text`)
  }
}

function handlers(plane: ControlPlane, knows: (endpoint: string) => boolean): Record<string, Handler> {
  const { clock, calls, events, faults, outbox } = plane
  const state = () => plane.engine.state
  const time = () => ({ now: clock.now(), time: new Date(clock.now()).toISOString(), frozen: clock.frozen })
  return {
    'GET /clock': time,
    'POST /clock/freeze': async ({ at }) => {
      const move = at === undefined ? undefined : forwardTo('at', at)
      // A time that is over is refused before anything has happened.
      move?.(clock.now())
      clock.freeze()
      if (move) await plane.moveTo(move)
      return time()
    },
    'POST /clock/set': async ({ to }) => {
      await plane.moveTo(forwardTo('to', to))
      return time()
    },
    'POST /clock/advance': async ({ by }) => {
      const ms = duration('by', by)
      await plane.moveTo(now => now + ms)
      return time()
    },
    'POST /clock/resume': () => {
      clock.resume()
      return time()
    },

    'POST /reset': async () => {
      await plane.reset()
      return time()
    },
    'GET /snapshots': () => ({ snapshots: plane.worlds.list() }),
    'POST /snapshots': ({ name }) => ({ snapshot: plane.worlds.save(text('name', name)) }),
    'POST /snapshots/:name/restore': async (_sent, name) => {
      await plane.worlds.restore(name)
      return time()
    },
    'DELETE /snapshots/:name': (_sent, name) => {
      plane.worlds.remove(name)
      return {}
    },

    'GET /faults': () => ({ faults: faults.list(), kinds: faultKinds }),
    'POST /faults': sent => ({
      fault: faults.add(readRule(sent, { endpoint: knows, user: name => userOf(plane, name).email })),
    }),
    'DELETE /faults': () => {
      faults.clear()
      return {}
    },
    'DELETE /faults/:name': (_sent, name) => {
      if (!faults.remove(Number(name))) throw noSuch(`id: there is no fault ${name}`)
      return {}
    },

    'GET /requests': ({ user, ...sent }) => {
      if (sent.endpoint !== undefined && !knows(String(sent.endpoint)))
        throw badRequest(`endpoint: no endpoint is called ${JSON.stringify(sent.endpoint)}`)
      const of = user === undefined ? {} : { user_id: userOf(plane, user).id }
      return listed('requests', calls, { ...sent, ...of }, ['endpoint', 'user_id', 'status', 'method', 'code', 'fault'])
    },
    'DELETE /requests': () => cleared(calls),
    'GET /events': ({ user, type, ...sent }) => {
      only(sent, ['since', 'limit'])
      const reader = user === undefined ? undefined : userOf(plane, user)
      const found = events.since(count('since', sent.since, 0)).filter(({ to, event }) => {
        return (!reader || to.includes(reader.id)) && (type === undefined || event.type === type)
      })
      return { events: newest(found, sent), last_id: events.lastId }
    },
    'DELETE /events': () => cleared(events),
    'POST /wait': sent => wait(plane, sent),

    'GET /queues': () => ({ queues: [...plane.engine.queues.values()].map(queue => presentQueue(plane, queue)) }),
    'POST /queues/expire': ({ queue_id, user, ...sent }) => {
      // A name that is not understood must not mean all of them.
      only(sent, [])
      if (queue_id !== undefined && !plane.engine.queues.get(String(queue_id)))
        throw noSuch(`queue_id: there is no queue ${JSON.stringify(queue_id)}`)
      const owner = user === undefined ? undefined : userOf(plane, user)
      return expire(plane, queue => (!owner || queue.userId === owner.id) && (!queue_id || queue.id === queue_id))
    },

    'GET /outbox': sent => listed('mails', outbox, sent, ['to', 'subject']),
    'DELETE /outbox': () => cleared(outbox),
    'GET /webhooks': ({ bot, ...sent }) => {
      const of = bot === undefined ? {} : { bot_id: userOf(plane, bot, 'bot').id }
      return listed('deliveries', plane.deliveries, { ...sent, ...of }, ['bot_id', 'status', 'trigger', 'http_status'])
    },
    'GET /accounts': () => ({
      accounts: [...state().users.values()]
        .filter(user => user.active && !user.bot?.system)
        .map(user => account(plane, user)),
    }),
    'GET /accounts/:name': (_sent, name) => ({ account: account(plane, userOf(plane, name)) }),
  }
}

function wait(plane: ControlPlane, sent: Sent): Promise<object> {
  only(sent, ['event', 'call', 'webhook', 'user', 'within', 'since'])
  const within = sent.within === undefined ? 5000 : duration('within', sent.within)
  const reader = sent.user === undefined ? undefined : userOf(plane, sent.user).id
  return waitFor(plane, { ...sent, within, reader, since: count('since', sent.since, 0) })
}

async function expire(plane: ControlPlane, fits: (queue: Queue) => boolean): Promise<object> {
  const ids = [...plane.engine.queues.values()].filter(fits).map(({ id }) => id)
  const facts = ids.map(queueId => ({ type: 'queue.removed' as const, queueId, reason: 'expired' as const }))
  if (facts.length > 0) await plane.engine.record('expire-queues', null, facts)
  return { expired: ids }
}

function presentQueue(plane: ControlPlane, queue: Queue): object {
  return {
    queue_id: queue.id,
    user: plane.engine.state.users.get(queue.userId)?.email ?? null,
    event_types: queue.eventTypes,
    pending: queue.pending.length,
    last_event_id: queue.newest,
    acknowledged: queue.acknowledged,
    waiting: queue.waiter !== undefined,
    last_seen: queue.lastSeen,
    expires: queue.lastSeen + queue.lifespan,
  }
}

function account({ parts }: ControlPlane, user: User): object {
  return { user_id: user.id, email: user.email, full_name: user.fullName, api_key: parts.keys.keyOf(user) }
}

function listed<T extends Numbered>(name: string, log: Log<T>, sent: Sent, fields: readonly string[]): object {
  only(sent, [...fields, 'since', 'limit'])
  const wanted = fields.filter(field => sent[field] !== undefined)
  const found = log
    .since(count('since', sent.since, 0))
    .filter(item => wanted.every(field => String((item as Sent)[field]) === String(sent[field])))
  return { [name]: newest(found, sent), last_id: log.lastId }
}

/** Whatever else was sent is a mistake: left aside, it would make a test pass that should not. */
function only(sent: Sent, names: readonly string[]): void {
  const unknown = Object.keys(sent).find(name => !names.includes(name))
  if (unknown !== undefined) throw badRequest(`${unknown}: not understood here`)
}

function newest<T>(items: readonly T[], sent: Sent): readonly T[] {
  return items.slice(-count('limit', sent.limit, 100))
}

function cleared(log: Recent<any>): object {
  log.clear()
  return {}
}

function admit({ headers }: FastifyRequest, right: (token: string) => boolean): void {
  const [scheme, token = ''] = (headers.authorization ?? '').split(' ', 2)
  if (scheme?.toLowerCase() !== 'bearer' || !right(token))
    throw unauthenticated(
      'UNAUTHORIZED',
      'The control plane needs the header "Authorization: Bearer TOKEN", with the control_token of the ready file.',
    )
}

function sentBy(request: FastifyRequest): Sent {
  const query = request.query as Sent
  const bytes = request.body as Buffer | undefined
  if (!bytes || bytes.length === 0) return query
  try {
    const body = JSON.parse(bytes.toString())
    if (typeof body === 'object' && body !== null && !Array.isArray(body)) return { ...query, ...body }
  } catch {
    // Said below.
  }
  throw malformed('The body must be a JSON object.', { code: 'INVALID_JSON' })
}

function forwardTo(name: string, given: unknown): (now: number) => number {
  const wanted = typeof given === 'number' ? given * 1000 : Date.parse(text(name, given))
  if (Number.isNaN(wanted)) throw badRequest(`${name}: UNIX seconds or an ISO 8601 time`)
  return now => {
    if (wanted < now)
      throw badRequest(`${name}: it is ${new Date(now).toISOString()} already; time goes back by reset only`)
    return wanted
  }
}

function duration(name: string, given: unknown): number {
  const ms = typeof given === 'number' ? given * 1000 : parseDuration(text(name, given))
  if (ms === undefined || !(ms >= 0)) throw badRequest(`${name}: a time such as 10m or 1h30m, or a number of seconds`)
  return Math.round(ms)
}

function text(name: string, given: unknown): string {
  if (typeof given !== 'string') throw badRequest(`${name} is missing`)
  return given
}

function count(name: string, given: unknown, fallback: number): number {
  if (given === undefined) return fallback
  const value = Number(given)
  if (!Number.isSafeInteger(value) || value < 0) throw badRequest(`${name}: a whole number`)
  return value
}
