// Shapes and params that several pages of the control plane share.

import {
  anything,
  bool,
  defaulted,
  int,
  keyed,
  listOf,
  maybe,
  milliseconds,
  nullable,
  num,
  oneOf,
  optional,
  record,
  text,
} from '../define.ts'
import { Type } from '../shape-builders.ts'

/** Names of accounts, endpoints, queues and the like. */
export const shortText = Type.String({ maxLength: 1000 })

/** An email address, the part of it before the @, or a user ID. */
export const account = Type.Union([Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }), shortText], {
  ref: 'account',
})

/** `10m`, `1h30m`, or a number of seconds. */
export const duration = Type.Union([Type.Number({ minimum: 0, maximum: 1e11 }), shortText], { ref: 'duration' })

/** ISO 8601, or UNIX seconds; the command line also takes `tomorrow 9:00`. */
export const moment = Type.Union([Type.Number({ minimum: 0, maximum: 1e11 }), shortText], { ref: 'moment' })

export const id = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })

/** Of every log. */
export const range = {
  since: defaulted(id, 0, 'only entries with a higher ID'),
  limit: defaulted(
    Type.Integer({ minimum: 0, maximum: 100_000 }),
    100,
    'maximum number of entries; the newest are returned',
  ),
}

/** Of logs that can be followed. */
export const waitIfEmpty = defaulted(
  duration,
  0,
  'how long to wait if there is nothing to list, such as 30s; at most 1m',
)

export const within = defaulted(duration, '5s', 'how long to wait, such as 30s; at most 10m')

/** Fields that must be there and match; texts such as `/ok|done/i` are patterns. */
export const pattern = keyed(anything)

export const clockReply = { now: milliseconds, time: text, frozen: bool }
/** What people see: `time` says the same as `now`. */
export const clockColumns = ['now', 'frozen']

export const status = Type.Integer({ minimum: 100, maximum: 599 })

export const finding = record({
  kind: oneOf('refused', 'deprecated', 'ignored'),
  parameter: nullable(text),
  says: text,
})

export const call = record({
  id: int,
  time: milliseconds,
  method: text,
  path: text,
  endpoint: nullable(text),
  user: nullable(text),
  user_id: nullable(int),
  user_agent: nullable(text),
  sent: keyed(anything),
  params: keyed(anything),
  status: nullable(int),
  code: nullable(text),
  duration_ms: nullable(num),
  fault: nullable(text),
  parked: bool,
  lost: bool,
  strict: maybe(listOf(finding)),
})

/** With the beginning of its answer. */
export const fullCall = record({ ...call.properties, answer: maybe(nullable(text)) })

export const loggedEvent = record({
  id: int,
  time: milliseconds,
  to: listOf(int),
  position: int,
  queues: listOf(text),
  event: keyed(anything),
})

/** Figures of a daemon; sizes in bytes. */
export const health = record({
  version: text,
  uptime_ms: num,
  rss: int,
  heap_used: int,
  position: int,
  journal_bytes: nullable(int),
  queues: int,
  waiting: int,
  pending: int,
  calls: int,
  events: int,
})

export const trigger = oneOf('mention', 'direct_message')
const deliveryStatus = oneOf('waiting', 'delivered', 'failed')

export const delivery = record({
  id: int,
  time: milliseconds,
  bot: nullable(text),
  bot_id: int,
  message_id: int,
  trigger,
  status: deliveryStatus,
  attempts: int,
  next_attempt: nullable(milliseconds),
  http_status: nullable(int),
  error: nullable(text),
  response: nullable(text),
  request: nullable(record({ url: text, content_type: text, body: anything })),
})

/** What a wait answers: what it waited for, or what came closest. */
export function waitReply<S extends Record<string, ReturnType<typeof maybe>>>(found: S) {
  return { met: bool, ...found, near: maybe(listOf(Type.Object({ ...found, differs: listOf(text) }))) }
}

/** Which calls; for lists and for waiting. */
export const callFilter = {
  endpoint: optional(shortText, 'only calls to this endpoint: an operation ID such as send-message'),
  user: optional(account, 'only calls by this account'),
  method: optional(shortText, 'only calls with this method'),
  status: optional(status, 'only calls answered with this status'),
  code: optional(shortText, 'only calls answered with this error code'),
  fault: optional(shortText, 'only calls that this kind of fault hit'),
  integration: optional(shortText, 'only payloads that were posted to this incoming webhook, such as grafana'),
}

/** Which deliveries; for lists and for waiting. */
export const deliveryFilter = {
  bot: optional(account, 'only deliveries to this bot'),
  status: optional(deliveryStatus, 'only deliveries with this status'),
  trigger: optional(trigger, 'only deliveries with this trigger'),
  http_status: optional(status, 'only deliveries answered with this status'),
}
