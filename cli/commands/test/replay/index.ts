// `natter replay FILE`: plays a recording again and reports every answer that differs; or plays its events to a bot and reports
// what the bot does otherwise.

import { Ending, exitCodes, usage } from '../../../base/failure.ts'
import type { Globals } from '../../../base/globals.ts'
import { note } from '../../../base/note.ts'
import { accountFor } from '../../../base/profile.ts'
import type { ExtraSubcommand } from '../../../base/subcommand.ts'
import { print } from '../../../base/writer.ts'
import { printJson } from '../../../print/output.ts'
import { playToBot } from './bot.ts'
import { type Finding, listDifferences } from './compare.ts'
import { describeCall, type Judge, playAll } from './play-all.ts'
import { Player } from './player.ts'
import { type RecordedCall, type Recording, readRecording } from './recording.ts'

export const subcommands: readonly ExtraSubcommand[] = [
  {
    name: 'replay',
    about: 'Play a recording again and report every answer that differs; exit code 8 if any does',
    args: [{ name: 'file', about: 'a file of natter record or natter proxy' }],
    flags: [
      {
        name: 'against',
        value: 'natter|SITE',
        about: 'report drift: which fields of endpoints and events differ on this daemon, or on another server',
      },
      {
        name: 'accept',
        about: 'with --against: keep the differences in FILE.accepted.json; they do not count from then on',
      },
      {
        name: 'fresh',
        about: 'with --against natter: start a daemon with the accounts and channels that the recording shows',
      },
      { name: 'exact', about: 'compare IDs and times too, for a daemon with the same --secret and a frozen clock' },
      { name: 'bot', value: 'ACCOUNT', about: 'play the calls of all others, and compare what this bot does' },
      { name: 'within', value: 'DURATION', about: 'how long the bot has for its next call; 5s by default' },
    ],
    runs: true,
    globals: ['json', 'quiet', 'site', 'user', 'api-key', 'profile', 'ready-file', 'control-token'],
    more: `The daemon should begin as the recorded one did, with the same preset and seed. Calls are made in their order, as the same accounts; IDs that
the daemon assigns take the place of the recorded ones. What is compared is the status and the answer, and the events of every queue, without
IDs, times and random texts. If the clock of the recording was frozen and that of the daemon is, it is moved along.
--against natter takes a recording of another server, made with natter proxy, and reports each field that is absent, of another type or of another
value, once for each endpoint and event. Start the daemon with the seed of natter seed pull, or add --fresh, which is the default where no daemon is
known: then a daemon in memory begins with the accounts, channels, subscriptions and messages that the calls and answers of the recording show. --against SITE plays the calls of one account on
that server, with its key; they change what is there.
natter replay FILE --bot ACCOUNT -- COMMAND starts a bot, plays what the others did, and compares the calls of the bot with the recorded ones.`,
    examples: [
      'natter exec --preset dev -- natter replay talk.ndjson',
      'natter exec --seed team.json -- natter replay talk.ndjson --against natter --accept',
      'natter replay talk.ndjson --against natter --fresh',
      'natter exec --preset dev -- natter replay talk.ndjson --bot echo-bot -- node bot.js',
    ],
    async run({ args: [file], rest = [], flags, globals }) {
      const recording = readRecording(file!)
      const { bot, within, exact, against, fresh } = flags as {
        bot?: string
        within?: string
        exact?: boolean
        fresh?: boolean
        against?: string
      }
      if (against !== undefined) {
        if (bot !== undefined || exact) throw usage('--against cannot be combined with --bot or --exact')
        const { reportDrift, reportFreshDrift } = await import('./against.ts')
        const accept = flags.accept === true
        if (fresh && against !== 'natter') throw usage('--fresh needs --against natter')
        if (fresh || (against === 'natter' && accountFor(globals, process.env).site === undefined))
          return reportFreshDrift(file!, recording, accept, globals)
        return reportDrift(file!, recording, { against, accept }, globals)
      }
      if (flags.accept === true || fresh) throw usage(`${fresh ? '--fresh' : '--accept'} needs --against`)
      const player = new Player(globals)
      const findings =
        bot === undefined
          ? await findDifferences(player, recording, exact === true)
          : await playToBot(player, recording, { bot, command: rest, within: within ?? '5s', globals })
      report(findings, globals)
      if (findings.length > 0) throw new Ending(exitCodes.unmet)
      note(`${recording.calls.length} calls, no difference`)
    },
  },
]

function report(findings: readonly Finding[], { json }: Globals): void {
  if (json) printJson({ differences: findings })
  for (const { call, what, differs } of json ? [] : findings)
    print(`call ${call}, ${what}\n${differs.map(line => `  ${line}\n`).join('')}`)
}

async function findDifferences(player: Player, recording: Recording, exact: boolean): Promise<Finding[]> {
  const findings: Finding[] = []
  const find = (call: RecordedCall, differs: readonly string[]) => {
    if (differs.length > 0) findings.push({ call: call.call, what: describeCall(call), differs })
  }
  const judge: Judge = {
    answer(call, { status, answer }) {
      const other = status === call.status ? [] : [`status: ${call.status} → ${status}`]
      find(call, [...other, ...listDifferences(call.answer, answer, exact)])
    },
    events: (call, recorded, found) => find(call, listDifferences({ events: recorded }, { events: found }, exact)),
    noEvents: (call, problem) => find(call, [problem]),
  }
  await playAll(player, recording, judge)
  return findings
}
