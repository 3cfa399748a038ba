// The log of calls that the daemon was sent.

import { controlEndpoint } from '../control-endpoint.ts'
import { bool, defaulted, inPath, int, listOf, maybe, nullable, optional, record, text } from '../define.ts'
import { call, callFilter, finding, fullCall, id, range, waitIfEmpty, waitReply, within } from '../shapes/control.ts'

const clientFinding = record({
  client: nullable(text),
  user: nullable(text),
  endpoint: text,
  ...finding.properties,
  calls: int,
  first_call: int,
  last_call: int,
  space: nullable(text),
})

/** Without the parameters as they were understood: those that were sent say the same. */
const shownOfCall = Object.keys(call.properties).filter(name => name !== 'params')

export const requests = {
  list: controlEndpoint({
    id: 'list-requests',
    route: 'GET /requests',
    summary: 'List the newest calls as they were sent, with what came of them; keys and passwords are hidden',
    params: {
      ...callFilter,
      user_id: optional(id, 'only calls by the account with this ID'),
      ...range,
      changed_since: defaulted(id, 0, 'cursor of an earlier list; only calls that arrived or were answered after it'),
      within: waitIfEmpty,
      full: defaulted(bool, false, 'with the parameters, the User-Agent and the beginning of the answer'),
    },
    reply: { requests: listOf(fullCall), last_id: int, cursor: int },
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
  show: controlEndpoint({
    id: 'show-request',
    route: 'GET /requests/{id}',
    summary: 'Show a call with the beginning of its answer; keys and passwords are hidden',
    params: { id: inPath(id, 'the call') },
    reply: { request: call, answer: nullable(text) },
    cli: {
      name: 'requests show',
      examples: ['natter requests show 1', 'natter requests show 1 --jq .answer'],
      log: { of: 'calls' },
      shows: 'request',
    },
  }),
  findings: controlEndpoint({
    id: 'list-findings',
    route: 'GET /findings',
    summary: 'List what clients sent that public servers refuse, ignore or have deprecated; needs natterd --strict',
    reply: { findings: listOf(clientFinding), left_out: int },
    cli: {
      name: 'requests findings',
      examples: ['natter requests findings', "natter requests findings --jq '.findings[].says'"],
      shows: 'findings',
      columns: ['client', 'user', 'endpoint', 'kind', 'says', 'calls', 'first_call'],
    },
  }),
  wait: controlEndpoint({
    id: 'wait-for-request',
    route: 'POST /requests/wait',
    reads: true,
    summary: 'Wait for a call: exit code 0 when it was made, 8 when it was not',
    params: { ...callFilter, since: range.since, within },
    reply: waitReply({ call: maybe(call) }),
    cli: {
      name: 'requests wait',
      flags: { user: 'of' },
      examples: [
        'natter requests wait --endpoint send-message --of echo-bot@example.com',
        'natter requests wait --endpoint get-events --status 429 --within 30s',
      ],
      shows: 'call',
      columns: shownOfCall,
      unmet: 'no such call was made',
      timeout: 660_000,
    },
  }),
  clear: controlEndpoint({
    id: 'clear-requests',
    route: 'DELETE /requests',
    summary: 'Clear the log of calls',
    cli: {
      name: 'requests clear',
      done: 'cleared the log of calls',
      examples: ['natter requests clear', 'natter requests clear --json'],
    },
  }),
}
