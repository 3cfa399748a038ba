// `natter faults …`: rules that let calls go wrong.

import type { ExtraSubcommand } from '../../base/subcommand.ts'
import { controlled, numbers, texts } from './call.ts'

export const faults: readonly ExtraSubcommand[] = [
  controlled({
    name: 'faults add',
    about: 'Let calls go wrong from now on',
    args: [
      {
        name: 'kind',
        about:
          'rate-limit, status, html-502, latency, hang-poll, drop-after-write, reset-mid-body, expire-queue or duplicate-event',
      },
    ],
    flags: [
      { name: 'endpoint', value: 'NAME', about: 'only this one: send-message, or "POST /messages"' },
      { name: 'of', value: 'EMAIL', about: 'only calls of this account' },
      { name: 'times', value: 'N', about: 'so many calls, then no more' },
      { name: 'after', value: 'N', about: 'let so many pass first' },
      { name: 'probability', value: 'P', about: 'from 0 to 1' },
      { name: 'status', value: 'CODE', about: 'of status (default 500)' },
      { name: 'seconds', value: 'N', about: 'of rate-limit: what Retry-After says (default 1)' },
      { name: 'ms', value: 'N', about: 'of latency (default 1000)' },
    ],
    method: 'POST',
    path: () => '/faults',
    body: ({ args, flags }) => ({
      kind: args[0],
      ...texts(flags, ['endpoint']),
      ...(flags.of !== undefined && { user: flags.of }),
      ...numbers(flags, ['times', 'after', 'probability', 'status', 'seconds', 'ms']),
    }),
    shows: 'fault',
    examples: [
      'natter faults add rate-limit --endpoint send-message --times 2 --seconds 3',
      'natter faults add drop-after-write --of amy@example.com --probability 0.1',
    ],
  }),
  controlled({
    name: 'faults list',
    about: 'List the rules, with the calls they saw and those they spoilt',
    method: 'GET',
    path: () => '/faults',
    shows: 'faults',
    examples: ['natter faults list', 'natter faults list --json'],
  }),
  controlled({
    name: 'faults remove',
    about: 'Take a rule away, or all of them',
    args: [{ name: 'id', about: 'which rule; all when left out', optional: true }],
    method: 'DELETE',
    path: ({ args }) => (args[0] === undefined ? '/faults' : `/faults/${encodeURIComponent(args[0])}`),
    examples: ['natter faults remove 3', 'natter faults remove'],
  }),
]
