// News of a daemon in one answer, for programs that show it live; and its figures.

import { controlEndpoint } from '../control-endpoint.ts'
import { defaulted, int, listOf, record } from '../define.ts'
import { Type } from '../shape-builders.ts'
import { call, clockReply, duration, health, id, loggedEvent } from '../shapes/control.ts'

export const live = {
  watch: controlEndpoint({
    id: 'watch-live',
    route: 'GET /live',
    summary:
      'Wait for new events and calls of all accounts, and return them with the clock and the health of the daemon',
    params: {
      events: defaulted(id, 0, 'events_cursor of the last answer; only newer events'),
      requests: defaulted(id, 0, 'requests_cursor of the last answer; only calls that are new or have changed'),
      within: defaulted(duration, '5s', 'how long to wait if nothing is new, such as 30s; at most 1m'),
      limit: defaulted(Type.Integer({ minimum: 1, maximum: 10_000 }), 1000, 'maximum number of events, and of calls'),
    },
    reply: {
      events: listOf(loggedEvent),
      events_cursor: int,
      requests: listOf(call),
      requests_cursor: int,
      clock: record(clockReply),
      health,
    },
    cli: {
      name: 'live',
      examples: ['natter live --json', 'natter live --events 120 --requests 340 --within 30s --json'],
      timeout: 90_000,
    },
  }),
  health: controlEndpoint({
    id: 'show-health',
    route: 'GET /health',
    summary: 'Show the figures of the daemon: memory, journal, queues, calls and events so far',
    reply: { health },
    cli: { name: 'health', examples: ['natter health', 'natter health --jq .health.rss'] },
  }),
}
