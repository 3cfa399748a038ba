// The log of calls that the daemon was sent.

import { bool, defaulted, endpoint, inPath, int, listOf, maybe, nullable, optional, text } from '../define.ts'
import { call, callFilter, fullCall, id, patience, range, waitReply, within } from '../shapes/control.ts'

export const requests = {
  list: endpoint({
    id: 'list-requests',
    method: 'GET',
    path: '/requests',
    access: 'control',
    since: 1,
    summary: 'List the newest calls as they were sent, with what came of them; keys and passwords are hidden',
    params: {
      ...callFilter,
      user_id: optional(id, 'only calls by the account with this ID'),
      ...range,
      changed_since: defaulted(id, 0, 'cursor of an earlier list; only calls that arrived or were answered after it'),
      within: patience,
      full: defaulted(bool, false, 'with the parameters, the User-Agent and the beginning of the answer'),
    },
    reply: { requests: listOf(fullCall), last_id: int, cursor: int },
    refusals: ['BAD_REQUEST'],
    cli: {
      name: 'requests list',
      flags: { user: 'of' },
      alone: true,
      log: { of: 'calls', follow: { field: 'cursor', param: 'changed_since' } },
      examples: [
        'natter requests list --follow',
        'natter requests list --endpoint send-message --full',
        'natter requests list --status 429 --json',
      ],
      shows: 'requests',
    },
  }),
  show: endpoint({
    id: 'show-request',
    method: 'GET',
    path: '/requests/{id}',
    access: 'control',
    since: 1,
    summary: 'Show a call with the beginning of its answer; keys and passwords are hidden',
    params: { id: inPath(id, 'the call') },
    reply: { request: call, answer: nullable(text) },
    refusals: ['BAD_REQUEST'],
    cli: {
      name: 'requests show',
      args: ['id'],
      examples: ['natter requests show 12', 'natter requests show 12 --jq .answer'],
      log: { of: 'calls' },
      shows: 'request',
    },
  }),
  wait: endpoint({
    id: 'wait-for-request',
    method: 'POST',
    path: '/requests/wait',
    access: 'control',
    since: 1,
    summary: 'Wait for a call: exit code 0 when it was made, 8 when it was not',
    params: { ...callFilter, since: range.since, within },
    reply: waitReply({ call: maybe(call) }),
    refusals: ['BAD_REQUEST'],
    cli: {
      name: 'requests wait',
      flags: { user: 'of' },
      examples: [
        'natter requests wait --endpoint send-message --of echo-bot@example.com',
        'natter requests wait --endpoint get-events --status 429 --within 30s',
      ],
      shows: 'call',
      unmet: 'no such call was made',
      patience: 660_000,
    },
  }),
  clear: endpoint({
    id: 'clear-requests',
    method: 'DELETE',
    path: '/requests',
    access: 'control',
    since: 1,
    summary: 'Clear the log of calls',
    params: {},
    reply: {},
    refusals: [],
    cli: {
      name: 'requests clear',
      done: 'cleared the log of calls',
      examples: ['natter requests clear', 'natter requests clear --json'],
    },
  }),
}
