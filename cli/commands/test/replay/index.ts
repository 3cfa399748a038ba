// `natter replay FILE`: plays a recording again and reports every answer that differs; or plays its events to a bot and reports
// what the bot does otherwise.

import { Ending, exitCodes } from '../../../base/failure.ts'
import type { Globals } from '../../../base/globals.ts'
import { note } from '../../../base/note.ts'
import type { ExtraSubcommand } from '../../../base/subcommand.ts'
import { print } from '../../../base/writer.ts'
import { printJson } from '../../../print/output.ts'
import { playToBot } from './bot.ts'
import { differencesOf, type Finding } from './compare.ts'
import { Player } from './player.ts'
import { inOrder, isOf, type RecordedCall, type Recording, readRecording } from './recording.ts'

export const replay: readonly ExtraSubcommand[] = [
  {
    name: 'replay',
    about: 'Play a recording again and report every answer that differs; exit code 8 if any does',
    args: [{ name: 'file', about: 'a file of natter record' }],
    flags: [
      { name: 'exact', about: 'compare IDs and times too, for a daemon with the same --secret and a frozen clock' },
      { name: 'bot', value: 'ACCOUNT', about: 'play the calls of all others, and compare what this bot does' },
      { name: 'within', value: 'DURATION', about: 'how long the bot has for its next call; 5s by default' },
    ],
    runs: true,
    globals: ['json', 'quiet', 'site', 'profile', 'ready-file', 'control-token'],
    more: `The daemon should begin as the recorded one did, with the same preset and seed. Calls are made in their order, as the same accounts; IDs that
the daemon assigns take the place of the recorded ones. What is compared is the status and the answer, and the events of every queue, without
IDs, times and random texts. If the clock of the recording was frozen and that of the daemon is, it is moved along.
natter replay FILE --bot ACCOUNT -- COMMAND starts a bot, plays what the others did, and compares the calls of the bot with the recorded ones.`,
    examples: [
      'natter exec --preset dev -- natter replay talk.ndjson',
      'natter exec --preset dev -- natter replay talk.ndjson --bot echo-bot -- node bot.js',
    ],
    async run({ args: [file], rest = [], flags, globals }) {
      const recording = readRecording(file!)
      const { bot, within, exact } = flags as { bot?: string; within?: string; exact?: boolean }
      const player = new Player(globals)
      const findings =
        bot === undefined
          ? await playAll(player, recording, exact === true)
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

export function nameOf({ method, path, user }: Pick<RecordedCall, 'method' | 'path' | 'user'>): string {
  return `${method} ${path.replace(/^\/api\/v1/, '')}${user === null ? '' : ` as ${user}`}`
}

async function playAll(player: Player, { calls, frozen }: Recording, exact: boolean): Promise<Finding[]> {
  const findings: Finding[] = []
  const isFrozen = frozen && (await player.control('GET', '/clock')).frozen === true
  const queues = new Map<string, RecordedCall[]>()
  const find = (call: RecordedCall, differs: readonly string[]) => {
    if (differs.length > 0) findings.push({ call: call.call, what: nameOf(call), differs })
  }
  for (const call of inOrder(calls)) {
    const { sent } = call
    const queueId = String(sent.queue_id ?? '')
    // How events were spread over polls depends on when the client asked; what came in which order does not.
    if (isOf(call, 'GET', '/events') && queueId !== '') {
      queues.set(queueId, [...(queues.get(queueId) ?? []), call])
      continue
    }
    const why = player.unplayable(call)
    if (why !== undefined) {
      note(`call ${call.call}, ${nameOf(call)}, is left out: ${why}`)
      continue
    }
    if (isFrozen) await player.moveTo(call.time)
    if (isOf(call, 'DELETE', '/events')) {
      find(call, await compareEvents(player, queues.get(queueId) ?? [], exact))
      queues.delete(queueId)
    }
    const played = await player.play(call)
    player.learn(call, played)
    const status = played.status === call.status ? [] : [`status: ${call.status} → ${played.status}`]
    find(call, [...status, ...differencesOf(call.answer, played.answer, exact)])
  }
  for (const polls of queues.values()) find(polls[0]!, await compareEvents(player, polls, exact))
  return findings
}

interface Event {
  readonly id: number
  readonly type: string
}

/** Reads the queue to its end, and compares what came with all that the recorded polls were answered. */
async function compareEvents(player: Player, polls: readonly RecordedCall[], exact: boolean): Promise<string[]> {
  const recorded = new Map<number, Event>()
  for (const { answer } of polls) for (const event of eventsIn(answer)) recorded.set(event.id, event)
  const first = polls.find(({ lost, status }) => !lost && status === 200)
  if (!first) return []
  const found: Event[] = []
  for (let last = -1; ; last = found.at(-1)!.id) {
    const sent = { queue_id: String(first.sent.queue_id), last_event_id: String(last), dont_block: 'true' }
    const { answer, status } = await player.play({ ...first, sent })
    if (status !== 200) return [`the queue: ${JSON.stringify(answer)}`]
    // A queue has each event once; a server that sends the same ones again would never end.
    const events = eventsIn(answer).filter(({ id }) => id > last)
    if (events.length === 0) break
    found.push(...events)
  }
  const lasting = (events: Iterable<Event>) => [...events].filter(({ type }) => type !== 'heartbeat')
  const wanted = lasting(recorded.values())
  // Events after the client's last poll do not count as a difference.
  return differencesOf({ events: wanted }, { events: lasting(found).slice(0, wanted.length) }, exact)
}

function eventsIn(answer: unknown): Event[] {
  const { events } = Object(answer) as { events?: Event[] }
  return Array.isArray(events) ? events : []
}
