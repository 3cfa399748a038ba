// Event queues: register one, read it by long poll, delete it.

import { Type } from '@sinclair/typebox'
import { type Capability, capabilities } from './capabilities.ts'
import {
  anything,
  bool,
  defaulted,
  endpoint,
  int,
  keyed,
  listOf,
  natural,
  nullable,
  oneOf,
  optional,
  record,
  required,
  termsOf,
  text,
} from './define.ts'

const event = record({ id: int, type: text })
/** -1 stands for the time before the first event. */
const eventId = Type.Integer({ minimum: -1, maximum: Number.MAX_SAFE_INTEGER })

/** Shared by `POST /register` and by `GET /events` without a queue. */
const queueParams = {
  event_types: optional(nullable(listOf(text)), 'which events to receive; all when absent'),
  narrow: defaulted(termsOf(listOf(text)), [], 'only message events that match these [operator, operand] pairs'),
  all_public_streams: optional(
    bool,
    'also messages of public channels you are not subscribed to; false when absent, for bots as they are set up',
  ),
  apply_markdown: defaulted(bool, false, 'message content as HTML instead of Markdown'),
  client_gravatar: defaulted(bool, true, 'avatar_url may be null for users of the avatar provider'),
  slim_presence: defaulted(bool, false, 'presence by user ID, without email'),
  client_capabilities: defaulted(
    keyed(anything),
    {},
    `what the client can do: ${Object.keys(capabilities).join(', ')}`,
  ),
  include_subscribers: defaulted(oneOf('true', 'false', 'partial'), 'false', 'lists of subscribers in channel objects'),
  queue_lifespan_secs: defaulted(natural, 0, 'seconds without a poll until the queue expires; 0 means 600'),
}

/** `GET /events` also takes each capability by itself. */
const declarations = Object.fromEntries(
  Object.keys(capabilities).map(name => [
    name,
    optional(bool, 'the capability of that name, as in client_capabilities'),
  ]),
) as Record<Capability, ReturnType<typeof optional<typeof bool>>>

export const events = {
  register: endpoint({
    id: 'register-queue',
    method: 'POST',
    path: '/register',
    access: 'user',
    since: 1,
    summary: 'Register an event queue and fetch the state it starts from',
    served: 'queues',
    params: {
      ...queueParams,
      fetch_event_types: optional(nullable(listOf(text)), 'which state to return; as event_types when absent'),
      presence_history_limit_days: optional(natural, 'oldest presence to return; 0 for none'),
    },
    reply: {
      queue_id: text,
      last_event_id: int,
      svc_version: text,
      svc_feature_level: int,
      svc_merge_base: text,
    },
    refusals: ['BAD_REQUEST'],
    cli: {
      name: 'queues register',
      examples: ['natter queues register --event-types \'["message"]\'', 'natter queues register --json'],
    },
  }),
  get: endpoint({
    id: 'get-events',
    method: 'GET',
    path: '/events',
    access: 'user',
    since: 1,
    summary: 'Read events; waits for one unless told otherwise',
    served: 'queues',
    params: {
      queue_id: optional(text, 'the queue; without it, one is registered from the other parameters'),
      last_event_id: optional(eventId, 'highest event ID you have processed; it and older ones are dropped'),
      dont_block: defaulted(bool, false, 'answer at once, even with nothing'),
      ...queueParams,
      queue_lifespan_secs: { ...queueParams.queue_lifespan_secs, alias: 'lifespan_secs' },
      ...declarations,
    },
    reply: { events: listOf(event), queue_id: text },
    refusals: ['BAD_REQUEST', 'BAD_EVENT_QUEUE_ID'],
    cli: {
      name: 'queues events',
      args: ['queue_id'],
      examples: [
        'natter queues events QUEUE_ID --last-event-id -1',
        'natter queues events QUEUE_ID --dont-block --json',
      ],
      shows: 'events',
    },
  }),
  delete: endpoint({
    id: 'delete-queue',
    method: 'DELETE',
    path: '/events',
    access: 'user',
    since: 1,
    summary: 'Delete an event queue',
    served: 'queues',
    params: { queue_id: required(text, 'the queue') },
    reply: {},
    refusals: ['BAD_EVENT_QUEUE_ID'],
    cli: {
      name: 'queues delete',
      args: ['queue_id'],
      examples: ['natter queues delete QUEUE_ID', 'natter queues delete QUEUE_ID --json'],
    },
  }),
}
