// `natter wait`: an assertion about future events. Exit code 0 with the event, or 8 with the nearest misses.

import { allQueues } from '../../../daemon/api/control/queues.ts'
import { requests } from '../../../daemon/api/control/requests.ts'
import type { ChatEvent, Place } from '../../base/chat-event.ts'
import { Ending, exitCodes, Failure, usage } from '../../base/failure.ts'
import { readDuration, readWholeNumber } from '../../base/flag-values.ts'
import type { Globals } from '../../base/globals.ts'
import { note } from '../../base/note.ts'
import { accountFor, demandKey } from '../../base/profile.ts'
import { onSignals } from '../../base/signals.ts'
import type { ExtraSubcommand, Invocation } from '../../base/subcommand.ts'
import { printLines } from '../../base/writer.ts'
import { createNames } from '../../input/names.ts'
import { checkJq } from '../../print/jq.ts'
import { renderLine } from '../../terminal/message-lines.ts'
import { terminalFor } from '../../terminal/terminal.ts'
import { Connection } from '../../transport/connection.ts'
import { callControlPlane } from '../../transport/control.ts'
import { criteriaFor } from '../follow/tail/criteria.ts'
import { filterFlags, filtersFrom, pastFrom, readyText, since, typesFrom } from '../follow/tail/flags.ts'
import { type Batch, Follower, type Item, showRegistration } from '../follow/tail/follow.ts'
import { Places } from '../follow/tail/places.ts'
import { printerFor } from '../follow/tail/printer.ts'

const defaultWait = '30s'
const shownMisses = 3

export const subcommands: readonly ExtraSubcommand[] = [
  {
    name: 'wait',
    about: 'Wait for an event; exit code 0 with the event, or 8 with the nearest misses',
    flags: [
      ...filterFlags,
      { name: 'count', value: 'N', about: 'number of events to wait for (default 1)' },
      { name: 'within', value: 'TIME', about: `give up after this long (default ${defaultWait})` },
      {
        name: 'listening',
        value: 'ACCOUNT',
        about: 'wait until this account polls for events; needs the control token',
      },
      {
        name: 'integration',
        value: 'NAME',
        about: 'wait for a payload to this incoming webhook, such as grafana; needs the control token',
      },
      { ...since, about: 'also count messages since a time (10m) or after a message (id:57)' },
    ],
    more: `On stderr, \`ready\` is printed as soon as nothing will be missed any more. What happened just before the start is missed,
unless --since says how far to look back.

With --listening, the JSON has the event queue in \`queue\`, with --integration the call in \`call\`: --jq .queue.queue_id`,
    examples: [
      'natter wait --sender echo-bot --topic deploys --match /ok/ --within 5s',
      'natter wait --dm --since 1m --json',
      'natter wait --type reaction --channel general',
      'natter wait --listening echo-bot --within 10s',
      'natter wait --integration grafana --since 1m --jq .call.params.payload',
    ],
    run: runWait,
  },
]

interface Miss {
  readonly event: ChatEvent
  readonly place: Place | undefined
  readonly differed: readonly string[]
}

async function runWait({ flags, globals }: Invocation): Promise<void> {
  if (flags.listening !== undefined) return waitForListener(flags, globals)
  if (flags.integration !== undefined) return waitForPayload(flags, globals)
  const account = accountFor(globals, process.env)
  demandKey(account)
  const within = readDuration('within', flags.within ?? defaultWait)
  const count = flags.count === undefined ? 1 : Math.max(1, readWholeNumber('count', flags.count))
  const past = await pastFrom(flags.since, account, globals)
  const names = createNames(account, { timeout: globals.timeout })
  const { all: criteria } = await criteriaFor(filtersFrom(flags, account.site), names)
  // Only --narrow is sent to the server, because near misses must arrive here to be reported.
  const told = await criteriaFor(flags.narrow === undefined ? {} : { narrow: String(flags.narrow) }, names)
  const { narrow, queueNarrow } = told
  const plan = { types: typesFrom(flags.type), narrow, queueNarrow, allPublic: flags['all-public'] === true }
  if (globals.jq !== undefined) await checkJq(globals.jq)
  if (globals.dryRun || globals.curl) return showRegistration(account, plan, globals)
  const terminal = await terminalFor(globals, '')
  const print = await printerFor(globals, terminal, account, plan.types)
  const connection = await Connection.open(account)
  const stop = new AbortController()
  const timer = setTimeout(() => stop.abort(), within)
  let ending: number | undefined
  // The queue is deleted before the end.
  const ignoreSignals = onSignals(code => {
    ending = code
    stop.abort()
  })
  const places = new Places(connection)
  const follower = new Follower(connection, plan, stop.signal)
  let nearest: readonly Miss[] = []
  let missed = 0
  let met = 0

  const takeAll = async (batches: AsyncIterable<Batch>): Promise<void> => {
    for await (const item of each(batches)) {
      const { event } = item
      if (event.type === '_gap') continue
      if (event.message) places.remember(event.message, item.text?.length)
      const place = await places.of(event)
      const differed = criteria.filter(criterion => criterion.meets(event, place) !== true).map(({ name }) => name)
      if (differed.length > 0) {
        missed++
        nearest = near([...nearest, { event, place, differed }])
      } else {
        printLines(await print.renderItem(item, place))
        if (++met >= count) return stop.abort()
      }
    }
  }

  try {
    await follower.begin()
    note(readyText(plan.types, account.email, follower.position.queue_id))
    if (past) await takeAll(follower.past(past))
    if (met < count) await takeAll(follower.follow())
  } catch (error) {
    if (!stop.signal.aborted) throw error
  } finally {
    clearTimeout(timer)
    await follower.leave()
    connection.close()
    ignoreSignals()
  }
  if (met >= count) return
  if (ending !== undefined) throw new Ending(ending)
  const lines = nearest.map(({ event, place, differed }) => {
    const text = renderLine(event, place, { columns: undefined, colors: undefined }, new Date(), account.email)
    return `${text}\n    differed in ${differed.join(' and ')}`
  })
  throw new Failure(exitCodes.unmet, summary(met, count, missed, within), {
    ...(lines.length > 0 && { hint: `Nearest:\n  ${lines.join('\n  ')}` }),
  })
}

/** A bot under test is ready when its poll waits at the daemon. */
async function waitForListener(flags: Invocation['flags'], globals: Globals): Promise<void> {
  const { listening, within = defaultWait, ...others } = flags
  const [other] = Object.keys(others)
  if (other !== undefined) throw usage(`--listening and --${other} cannot be combined`)
  const { callControl } = await import('../../catalogue/control-call.ts')
  const given = new Map(Object.entries({ user: String(listening), within: String(within) }))
  await callControl(allQueues.wait, given, globals)
}

/** A notifier under test has posted when its payload is in the log of calls. */
async function waitForPayload(flags: Invocation['flags'], globals: Globals): Promise<void> {
  const { integration, within = defaultWait, since: from, ...others } = flags
  const [other] = Object.keys(others)
  if (other !== undefined) throw usage(`--integration and --${other} cannot be combined`)
  const { callControl } = await import('../../catalogue/control-call.ts')
  const last = await lastCallBefore(from, globals)
  const given = { integration: String(integration), within: String(within), since: String(last) }
  await callControl(requests.wait, new Map(Object.entries(given)), globals)
}

/** The ID of the last call that does not count. */
async function lastCallBefore(from: unknown, globals: Globals): Promise<number> {
  const path = `/control/v1/requests?limit=${from === undefined ? 0 : 1000}`
  const reply = await callControlPlane(globals, { method: 'GET', path }, { timeout: globals.timeout })
  const past = await pastFrom(from, accountFor(globals, process.env), globals)
  if (!past) return Number(reply.last_id)
  if (!('since' in past)) throw usage('--since: with --integration it takes a time, such as 10m')
  const before = (reply.requests as { id: number; time: number }[]).filter(({ time }) => time < past.since * 1000)
  return before.at(-1)?.id ?? 0
}

async function* each(batches: AsyncIterable<Batch>): AsyncGenerator<Item> {
  for await (const { items } of batches) yield* items
}

/** The misses with the fewest differences, the newest last. */
function near(misses: readonly Miss[]): Miss[] {
  return [...misses].sort((a, b) => a.differed.length - b.differed.length).slice(0, shownMisses)
}

function summary(met: number, count: number, missed: number, within: number): string {
  const came = count === 1 ? 'no matching event arrived' : `${met} of ${count} matching events arrived`
  const others = missed === 0 ? 'no other events' : `${missed} other event${missed === 1 ? '' : 's'} arrived`
  return `${came} within ${within / 1000} s; ${others}`
}
