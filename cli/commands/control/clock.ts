// `natter clock …`: the time of a daemon that was started for tests.

import { usage } from '../../base/failure.ts'
import type { ExtraSubcommand } from '../../base/subcommand.ts'
import { parseDuration, parseTime } from '../../base/times.ts'
import { controlled } from './call.ts'

export const clock: readonly ExtraSubcommand[] = [
  controlled({
    name: 'clock show',
    about: 'Show the time of the daemon, and whether it stands still',
    method: 'GET',
    path: () => '/clock',
    examples: ['natter clock show', 'natter clock show --json'],
  }),
  controlled({
    name: 'clock freeze',
    about: 'Stop the time of the daemon, now or at a moment to come',
    args: [{ name: 'time', about: 'as for clock set; now when left out', optional: true }],
    method: 'POST',
    path: () => '/clock/freeze',
    body: ({ args }) => (args[0] === undefined ? {} : { at: momentFrom(args[0]) }),
    examples: ['natter clock freeze', 'natter clock freeze 2030-01-01T09:00:00Z --ready-file ready.json'],
  }),
  controlled({
    name: 'clock set',
    about: 'Move time forward to a moment; everything that falls due on the way happens first',
    args: [{ name: 'time', about: 'ISO 8601, UNIX seconds, or `tomorrow 9:00`' }],
    method: 'POST',
    path: () => '/clock/set',
    body: ({ args }) => ({ to: momentFrom(args[0]!) }),
    examples: ['natter clock set 2030-01-01T09:00:00Z', 'natter clock set 1893456000 --json'],
  }),
  controlled({
    name: 'clock advance',
    about: 'Move time forward by so much; everything that falls due on the way happens first',
    args: [{ name: 'by', about: 'such as 10m or 1h30m' }],
    method: 'POST',
    path: () => '/clock/advance',
    body: ({ args }) => ({ by: args[0] }),
    examples: ['natter clock advance 10m', 'natter clock advance 1h30m --json'],
  }),
  controlled({
    name: 'clock resume',
    about: 'Let time run again, from where it stands',
    method: 'POST',
    path: () => '/clock/resume',
    examples: ['natter clock resume', 'natter clock resume --json'],
  }),
]

function momentFrom(given: string): number {
  // What is ahead of the machine's time need not be ahead of the daemon's.
  if (!/^\d+$/.test(given) && parseDuration(given) !== undefined)
    throw usage(`<time>: "${given}" is no moment`, `natter clock advance ${given}`)
  const moment = parseTime(given, new Date())
  if (moment === undefined) throw usage(`<time>: "${given}" is not a time`)
  return moment
}
