// Event queues: register one, read it by long poll, delete it.

import { type Capability, capabilities } from './capabilities.ts'
import {
  anything,
  bool,
  defaulted,
  eitherOf,
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
  textUpTo,
} from './define.ts'
import { Type } from './shape-builders.ts'
import { olderTerms } from './shapes/narrow.ts'

const event = record({ id: int, type: text })
/** -1 means before the first event. */
const eventId = Type.Integer({ minimum: -1, maximum: Number.MAX_SAFE_INTEGER })

/** Types of events that others have replaced. */
const olderTypes = {
  update_display_settings: 'user_settings',
  update_global_notifications: 'user_settings',
  muted_topics: 'user_topic',
  realm_filters: 'realm_linkifiers',
}

/** Shared by `POST /register` and by `GET /events` without a queue. */
const queueParams = {
  event_types: optional(nullable(listOf(textUpTo(100), 100)), 'types of events to receive; all if omitted', {
    deprecatedWords: olderTypes,
  }),
  narrow: defaulted(
    termsOf(listOf(textUpTo(1000), 10)),
    [],
    'only message events that match these [operator, operand] pairs',
    { deprecatedWords: olderTerms },
  ),
  all_public_streams: optional(
    bool,
    "include messages in public channels you are not subscribed to; default false, or the bot's own setting",
  ),
  apply_markdown: defaulted(bool, false, 'return message content as HTML instead of Markdown'),
  client_gravatar: defaulted(bool, true, 'let avatar_url be null for users of the avatar provider', {
    off: 'always return avatar_url',
  }),
  slim_presence: defaulted(bool, false, 'return presence by user ID, without email addresses'),
  client_capabilities: optional(
    keyed(anything),
    `the capabilities of the client: ${Object.keys(capabilities).join(', ')}`,
  ),
  include_subscribers: defaulted(oneOf('true', 'false', 'partial'), 'false', 'include the subscribers of each channel'),
  queue_lifespan_secs: defaulted(natural, 0, 'seconds without a poll after which the queue expires; 0 means 600'),
}

/** `GET /events` also takes each capability as a parameter. */
const declarations = Object.fromEntries(
  Object.keys(capabilities).map(name => [
    name,
    optional(bool, 'the capability of this name, as in client_capabilities'),
  ]),
) as Record<Capability, ReturnType<typeof optional<typeof bool>>>

export const events = {
  register: endpoint({
    id: 'register-queue',
    route: 'POST /register',
    summary: 'Register an event queue and get the initial state',
    served: 'queues',
    params: {
      ...queueParams,
      fetch_event_types: optional(
        nullable(listOf(textUpTo(100), 100)),
        'types of state to return; same as event_types if omitted',
        { deprecatedWords: olderTypes },
      ),
      idle_queue_timeout: optional(
        eitherOf(natural, Type.Literal('mobile')),
        'seconds without a poll after which the queue expires; mobile means 12 hours',
        { since: 481 },
      ),
      presence_history_limit_days: optional(natural, 'maximum age in days of the presence to return; 0 for none'),
    },
    reply: {
      queue_id: text,
      last_event_id: int,
      svc_version: text,
      svc_feature_level: int,
      svc_merge_base: text,
    },
    cli: {
      name: 'queues register',
      examples: ['natter queues register --event-types \'["message"]\'', 'natter queues register --json'],
    },
  }),
  get: endpoint({
    id: 'get-events',
    route: 'GET /events',
    summary: 'Get events from a queue; waits for one by default',
    served: 'queues',
    params: {
      queue_id: optional(text, 'the queue; if omitted, a new one is registered from the other parameters'),
      last_event_id: optional(eventId, 'the highest event ID you have processed; events up to it are dropped'),
      dont_block: defaulted(bool, false, 'return immediately, even without events'),
      ...queueParams,
      queue_lifespan_secs: { ...queueParams.queue_lifespan_secs, alias: 'lifespan_secs', publicName: 'lifespan_secs' },
      ...declarations,
    },
    reply: { events: listOf(event), queue_id: text },
    refusals: ['BAD_EVENT_QUEUE_ID'],
    cli: {
      // A poll gets a heartbeat within about a minute.
      timeout: 120_000,
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
    route: 'DELETE /events',
    summary: 'Delete an event queue',
    served: 'queues',
    params: { queue_id: required(text, 'the queue') },
    refusals: ['BAD_EVENT_QUEUE_ID'],
    cli: {
      name: 'queues delete',
      done: 'deleted queue {queue_id}',
      examples: ['natter queues delete QUEUE_ID', 'natter queues delete QUEUE_ID --json'],
    },
  }),
}
