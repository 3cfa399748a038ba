// `natter tail`: events as they arrive, for people and for programs.

import { Ending, exitCodes, usage } from '../../../base/failure.ts'
import { readCount, readWholeNumber } from '../../../base/flag-values.ts'
import { note } from '../../../base/note.ts'
import { accountFor, demandKey } from '../../../base/profile.ts'
import { onSignals } from '../../../base/signals.ts'
import type { ExtraSubcommand, Invocation } from '../../../base/subcommand.ts'
import { createNames } from '../../../input/names.ts'
import { terminalFor } from '../../../terminal/terminal.ts'
import { Connection } from '../../../transport/connection.ts'
import { type Action, execAction, forwardAction, replyAction } from './actions.ts'
import { criteriaFor, textCriterion } from './criteria.ts'
import { CursorFile, readCursor } from './cursor.ts'
import { filterFlags, filtersFrom, pastFrom, readyText, since, typesFrom } from './flags.ts'
import { Follower, type Item, type Plan, showRegistration } from './follow.ts'
import { Places } from './places.ts'
import { Output, printerFor } from './printer.ts'
import { type StopFlags, Stops } from './stops.ts'
import { takerFor } from './take.ts'
import { type OnError, Workers } from './workers.ts'

/** Seconds that a queue waits for a tail to come back with its cursor. */
const cursorLifespan = 86_400
const forwardTimeout = 15_000
/** Bytes that a pipe accepts at once. */
const largePiece = 65_536
/** Bytes that a pipe accepts atomically. */
const atomicPiece = 4096
/** A call of jq costs as much as a thousand events. */
const eventsPerJq = 5000

export const subcommands: readonly ExtraSubcommand[] = [
  {
    name: 'tail',
    about: 'Print messages or other events as they arrive',
    flags: [
      ...filterFlags,
      {
        name: 'lines',
        short: 'n',
        value: 'N',
        about: 'start with the last N messages; with --since, at most N of those',
      },
      since,
      {
        name: 'cursor',
        value: 'FILE',
        about: 'save the position in this file and continue there next time, without missing anything',
      },
      { name: 'count', value: 'N', about: 'stop after N events' },
      { name: 'until', value: 'TEXT', about: 'stop after an event that contains this text or matches /PATTERN/' },
      { name: 'idle', value: 'TIME', about: 'stop when no event has arrived for this long after the history' },
      { name: 'within', value: 'TIME', about: 'stop after this long; exit code 8 if --count or --until was not met' },
      {
        name: 'exec',
        value: 'CMD',
        about: 'run a command for each event instead of printing it: JSON on stdin, NATTER_* variables',
      },
      {
        name: 'reply',
        value: 'CMD',
        about: 'run a command for each message, with the event as for --exec, and post its output as a reply',
      },
      {
        name: 'forward-to',
        value: 'URL',
        about: 'post each event to this URL as JSON; each delivery is a line on stderr',
      },
      {
        name: 'forward-header',
        value: 'NAME: VALUE',
        about: 'a header of these posts (repeatable)',
        repeatable: true,
      },
      { name: 'jobs', value: 'N', about: 'number of commands or posts in parallel (default 1)' },
      { name: 'on-error', value: 'WHAT', about: 'when a command or post fails: skip (default), stop or retry' },
    ],
    more: `On stderr, \`ready\` is printed as soon as no event can be missed. With --json each event is one line; a line of type
_gap marks a place where events were lost that cannot be fetched again. --jq and --fields
get it too; if they choose nothing of it, or only null, a line on stderr says so instead. With several types,
--fields leaves out the fields that an event does not have.

--exec and --reply run the command in a shell, with the event as one line of JSON on stdin: {"type": "message", "message": {…}}. Variables have
parts of it: NATTER_CONTENT, NATTER_SENDER, NATTER_SENDER_ID, NATTER_SENDER_NAME, NATTER_CHANNEL, NATTER_CHANNEL_ID, NATTER_TOPIC,
NATTER_MESSAGE_ID, NATTER_FLAGS, NATTER_TYPE, NATTER_OP and NATTER_EVENT_ID; one that the event does not have is empty. With NATTER_SITE,
NATTER_EMAIL and NATTER_API_KEY, natter in the command acts as the same account. --reply sends what the command prints on stdout; if
that is nothing, or the command fails, no reply is sent.

With --cursor, lines are written in blocks of at most 4096 bytes (a longer line is a block of its own), and the cursor is saved
after each block. No line is ever lost. After a normal end (a signal, --count and the like) the next run repeats none; after
kill -9 it repeats at most the last block, and a pipe never receives half a line. With --exec, --reply and --forward-to, what was
in progress at a kill is done again. A reply that the server did not take, because it was away, is sent again for up to five minutes,
with an idempotency key. A variable has at most 32,000 characters; stdin has the whole event. The cursor is not synced to disk: after a power failure it can be at an earlier position.`,
    examples: [
      'natter tail -n 20',
      'natter tail --channel general --topic deploys --json',
      'natter tail --type message,reaction,typing',
      'natter tail --cursor ~/.cache/natter.cursor --exec ./on-message.sh',
      "natter tail --forward-to http://127.0.0.1:3000/hook --forward-header 'X-Token: abc'",
      'natter tail --dm --reply \'echo You said: "$NATTER_CONTENT"\'',
    ],
    run: runTail,
  },
]

async function runTail({ flags, globals }: Invocation): Promise<void> {
  const account = accountFor(globals, process.env)
  demandKey(account)
  const stop = new AbortController()
  const until = flags.until === undefined ? undefined : await textCriterion(String(flags.until), '--until')
  const stops = new Stops(flags as StopFlags, until, stop)
  const onError = onErrorFrom(flags['on-error'])
  const jobs = flags.jobs === undefined ? 1 : readCount('jobs', flags.jobs)
  for (const name of ['exec', 'reply'])
    if (flags[name] !== undefined && String(flags[name]).trim() === '') throw usage(`--${name}: the command is empty`)
  if (globals.jq !== undefined) await (await import('../../../print/jq.ts')).checkJq(globals.jq)
  const lines = flags.lines === undefined ? undefined : readWholeNumber('lines', flags.lines)
  const last = lines === undefined ? undefined : { last: lines }
  const from = (await pastFrom(flags.since, account, globals)) ?? last
  const types = typesFrom(flags.type)
  const criteria = await criteriaFor(
    filtersFrom(flags, account.site),
    createNames(account, { timeout: globals.timeout }),
  )
  const cursorFile = flags.cursor as string | undefined
  const { narrow, queueNarrow } = criteria
  const plan: Plan = {
    types,
    narrow,
    queueNarrow,
    allPublic: flags['all-public'] === true,
    ...(cursorFile !== undefined && { lifespan: cursorLifespan }),
    ...(globals.jq !== undefined && { gather: eventsPerJq }),
  }
  if (globals.dryRun || globals.curl) return showRegistration(account, plan, globals)
  const connection = await Connection.open(account)
  const places = new Places(connection)
  const print = await printerFor(globals, await terminalFor(globals, ''), account, types)
  const actions = await actionsFor(flags, connection, stop.signal)
  const follower = new Follower(connection, plan, stop.signal)

  const wants = JSON.stringify([types ?? 'all', queueNarrow, plan.allPublic])
  const owner = { site: account.site ?? '', email: account.email ?? '', wants }
  const saved = cursorFile === undefined ? undefined : readCursor(cursorFile, owner.site, owner.email)
  const cursor = cursorFile === undefined ? undefined : new CursorFile(cursorFile)
  /** The queue that the next tail will use. */
  let kept = saved?.queue_id
  const prepare = (position: Item['position']) => {
    if (!cursor) return noPlace
    kept = position.queue_id
    return cursor.prepare({ ...owner, ...position })
  }
  const save = (position: Item['position']) => prepare(position)()
  const workers = new Workers(jobs, onError, save)
  let ending: number | undefined
  const end = (code: number) => {
    ending ??= code
    stop.abort()
  }
  const ignoreSignals = onSignals(end)
  // A write after the reader has gone, as in `natter tail | head -1`, ends the tail; the program's own listener would leave the queue behind.
  process.stdout.removeAllListeners('error')
  process.stdout.on('error', error => {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'EPIPE') note(`cannot write the output: ${code}`)
    end(code === 'EPIPE' ? exitCodes.done : exitCodes.refused)
  })

  const output = new Output(cursorFile === undefined ? largePiece : atomicPiece, prepare)
  const takeAll = takerFor({
    criteria: criteria.all,
    types,
    print,
    prints: flags.exec === undefined,
    places,
    actions,
    output,
    workers,
    stops,
    stop: stop.signal,
  })

  try {
    if (!saved) await follower.begin()
    stops.begin()
    let going = true
    if (saved) {
      going = await takeAll(follower.resume(saved, saved.queue_id !== '' && saved.wants === wants))
      if (from) note('continuing from the cursor; -n and --since are ignored')
    }
    const past = !saved && from
    // Before `ready` is printed, so that a kill cannot break its promise.
    if (going && !past) save(follower.position)
    note(readyText(types, account.email, follower.position.queue_id))
    if (past) {
      going = await takeAll(follower.past(past, lines))
      if (going) save(follower.position)
    }
    stops.caughtUp()
    if (going) await takeAll(follower.follow())
    await workers.finish()
  } catch (error) {
    if (!stop.signal.aborted) throw error
  } finally {
    stops.end()
    if (kept !== follower.position.queue_id) await follower.leave()
    connection.close()
    ignoreSignals()
  }
  if (ending !== undefined) throw new Ending(ending)
  stops.check()
}

function noPlace(): void {}

async function actionsFor(
  flags: Readonly<Record<string, unknown>>,
  connection: Connection,
  signal: AbortSignal,
): Promise<Action[]> {
  const actions: Action[] = []
  if (flags.exec !== undefined) actions.push(execAction(String(flags.exec), connection))
  if (flags.reply !== undefined) {
    const me = await connection.call('GET', '/users/me')
    const self = { id: me.user_id as number, email: String(me.email) }
    actions.push(replyAction(String(flags.reply), connection, self, signal))
  }
  const headers = flags['forward-header'] as string[] | undefined
  if (flags['forward-to'] !== undefined)
    actions.push(await forwardAction(String(flags['forward-to']), headers ?? [], forwardTimeout))
  else if (headers) throw usage('--forward-header needs --forward-to')
  return actions
}

function onErrorFrom(given: unknown): OnError {
  if (given === undefined) return 'skip'
  if (given === 'stop' || given === 'skip' || given === 'retry') return given
  throw usage(`--on-error: "${given}" is not skip, stop or retry`)
}
