// The newest report of `natter replay --against natter`, for the inspector.

import { controlEndpoint } from '../control-endpoint.ts'
import { bool, defaulted, int, listOf, milliseconds, nullable, oneOf, record, required } from '../define.ts'
import { Type } from '../shape-builders.ts'
import { id, shortText } from '../shapes/control.ts'

/** Differences of one report; the rest is counted. */
export const mostDifferences = 1000

const difference = record({
  where: shortText,
  field: shortText,
  kind: oneOf('presence', 'type', 'value'),
  recorded: shortText,
  found: shortText,
  call: int,
  count: id,
  accepted: bool,
})

export const drift = {
  show: controlEndpoint({
    id: 'show-drift',
    route: 'GET /drift',
    summary: 'Show the newest report of natter replay --against natter: which fields of endpoints and events differ',
    reply: {
      drift: nullable(
        record({
          time: milliseconds,
          recording: shortText,
          calls: id,
          differences: listOf(difference, mostDifferences),
          left_out: id,
        }),
      ),
    },
    cli: {
      name: 'drift show',
      examples: ['natter drift show', "natter drift show --jq '.drift.differences[]?.where'"],
      shows: 'drift',
      none: 'no report yet; natter replay FILE --against natter makes one',
    },
  }),
  keep: controlEndpoint({
    id: 'keep-drift',
    route: 'POST /drift',
    summary: 'Keep a report of differences in place of the last one, in the memory of the daemon',
    params: {
      recording: required(shortText, 'the recording that was played'),
      calls: required(id, 'how many calls it has'),
      differences: required(listOf(difference, mostDifferences), 'the fields that differ'),
      left_out: defaulted(Type.Integer({ minimum: 0, maximum: 1e9 }), 0, 'how many differences are not in the list'),
    },
    cli: {
      name: 'drift keep',
      args: ['recording', 'calls'],
      examples: [
        "natter drift keep talk.ndjson 12 --differences '[]'",
        "natter drift keep talk.ndjson 12 --differences '[]' --json",
      ],
    },
  }),
}
