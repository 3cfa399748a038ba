// Fault rules: which calls fail, how, and how often.

import { controlEndpoint } from '../control-endpoint.ts'
import { int, keyed, listOf, maybe, num, oneOf, optional, record, required, text } from '../define.ts'
import { Type } from '../shape-builders.ts'
import { account, id, shortText } from '../shapes/control.ts'

/** Each kind of fault, and what it does. */
export const faultKinds = {
  'rate-limit': 'answers 429 with Retry-After and RATE_LIMIT_HIT; the call is not carried out',
  status: 'answers with the given status, 500 by default; the call is not carried out',
  'html-502': 'answers 502 with an HTML page, as a proxy does; the call is not carried out',
  latency: 'waits before the call is carried out',
  'hang-poll': 'never answers; the call is not carried out',
  'drop-after-write': 'carries the call out and closes the connection without an answer',
  'reset-mid-body': 'carries the call out and resets the connection in the middle of the answer',
  'expire-queue': 'expires the event queue that the call names first',
  'duplicate-event': 'answers a poll with every event twice',
  reorder: 'answers a poll with the newest event first',
  'slow-heartbeat': 'holds back the answer to a poll that has only a heartbeat',
  'stale-queue':
    'answers a poll with the events of the answer before, which the client has acknowledged; a queue needs one answer first',
} as const

const kind = oneOf(...(Object.keys(faultKinds) as (keyof typeof faultKinds)[]))

const count = (minimum: number) => Type.Integer({ minimum, maximum: 1_000_000_000 })

const rule = {
  kind: required(kind, 'how the call fails; natter faults list --jq .kinds says what each does'),
  endpoint: optional(shortText, 'only calls to this endpoint: send-message, or "POST /messages"'),
  user: optional(account, 'only calls by this account'),
  times: optional(count(1), 'how many calls fail; all if omitted'),
  after: optional(count(0), 'how many matching calls succeed first'),
  probability: optional(Type.Number({ minimum: 0, maximum: 1 }), 'how likely a call fails, from 0 to 1'),
  status: optional(
    Type.Integer({ minimum: 400, maximum: 599 }),
    'for status: the status to answer with (500 by default)',
  ),
  seconds: optional(
    Type.Number({ minimum: 0, maximum: 86_400 }),
    'for rate-limit: the value of Retry-After (1 by default)',
  ),
  ms: optional(
    Type.Number({ minimum: 0, maximum: 600_000 }),
    'milliseconds to wait: for latency (1000 by default) and slow-heartbeat (60000 by default)',
  ),
}

const fault = record({
  id: int,
  kind,
  endpoint: maybe(text),
  user: maybe(account),
  times: maybe(int),
  after: maybe(int),
  probability: maybe(num),
  status: maybe(int),
  seconds: maybe(num),
  ms: maybe(num),
  seen: int,
  hits: int,
})

export const faults = {
  add: controlEndpoint({
    id: 'add-fault',
    route: 'POST /faults',
    summary: 'Make calls fail from now on',
    params: rule,
    reply: { fault },
    cli: {
      name: 'faults add',
      flags: { user: 'of' },
      examples: [
        'natter faults add rate-limit --endpoint send-message --times 2 --seconds 3',
        'natter faults add drop-after-write --of amy@example.com --probability 0.1',
      ],
      shows: 'fault',
    },
  }),
  list: controlEndpoint({
    id: 'list-faults',
    route: 'GET /faults',
    summary: 'List fault rules, with how often each was seen and applied',
    reply: { faults: listOf(fault), kinds: keyed(text) },
    cli: {
      name: 'faults list',
      examples: ['natter faults list', 'natter faults list --json'],
      shows: 'faults',
      columns: [
        'id',
        'kind',
        'endpoint',
        'user',
        'seen',
        'hits',
        'times',
        'after',
        'probability',
        'status',
        'seconds',
        'ms',
      ],
    },
  }),
  remove: controlEndpoint({
    id: 'remove-faults',
    route: 'DELETE /faults',
    also: ['/faults/{id}'],
    summary: 'Remove a fault rule, or all of them',
    params: { id: optional(id, 'the rule; all rules if omitted') },
    cli: { name: 'faults remove', args: ['id'], examples: ['natter faults remove 1', 'natter faults remove'] },
  }),
}
