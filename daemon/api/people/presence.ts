// Presence: who is active. Clients report it; everyone can read it.

import {
  bool,
  defaulted,
  eitherOf,
  endpoint,
  inPath,
  int,
  keyed,
  maybe,
  natural,
  num,
  oneOf,
  optional,
  record,
  required,
  since,
  text,
  timestamp,
  userText,
} from '../define.ts'

const modernPresence = record({ active_timestamp: timestamp, idle_timestamp: timestamp })
export const legacyPresence = keyed(record({ client: text, status: text, timestamp, pushable: maybe(bool) }))

export const presence = {
  update: endpoint({
    id: 'update-presence',
    route: 'POST /users/me/presence',
    callers: 'humans',
    summary: 'Report whether you are active or idle, and get the presence of others',
    params: {
      status: required(oneOf('active', 'idle'), 'whether you are using the device now'),
      ping_only: defaulted(bool, false, 'only report; do not return the presence of others'),
      last_update_id: optional(
        int,
        'presence_last_update_id of the previous reply, to get only newer data; -1 for all',
      ),
      history_limit_days: optional(
        natural,
        'maximum age of the data, default 14 days; ignored if last_update_id is above 0',
      ),
      slim_presence: defaulted(bool, false, 'return the modern format, by user ID', {
        deprecated: 'send last_update_id',
      }),
      new_user_input: defaulted(bool, false, 'whether the user has used the client since its previous report'),
    },
    reply: {
      presence_last_update_id: int,
      server_timestamp: maybe(num),
      presences: maybe(keyed(eitherOf(modernPresence, legacyPresence))),
    },
    cli: {
      name: 'presence',
      examples: ['natter presence active', 'natter presence idle --ping-only'],
      shows: 'presences',
    },
  }),
  ofUser: endpoint({
    id: 'get-user-presence',
    route: 'GET /users/{user_id_or_email}/presence',
    summary: 'Show the presence of one user',
    params: { user_id_or_email: inPath(userText, 'whose') },
    reply: {
      presence: record({
        active_timestamp: since(487, timestamp, 'leftOut'),
        idle_timestamp: since(487, timestamp, 'leftOut'),
        aggregated: maybe(record({ status: text, timestamp })),
        website: maybe(record({ status: text, timestamp })),
      }),
      server_timestamp: since(497, num),
    },
    cli: {
      name: 'seen show',
      examples: ['natter seen show amy@example.com', 'natter seen show 5 --json'],
      shows: 'presence',
    },
  }),
  list: endpoint({
    id: 'get-presence',
    route: 'GET /realm/presence',
    summary: 'Show the presence of everyone',
    reply: { presences: keyed(legacyPresence), server_timestamp: num },
    cli: {
      name: 'seen list',
      examples: ['natter seen list', 'natter seen list --json'],
      shows: 'presences',
    },
  }),
}
