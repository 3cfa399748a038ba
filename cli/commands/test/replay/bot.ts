// Plays the recorded calls of other accounts to a new build of a bot, and compares its calls with the recorded ones.

import { type ChildProcess, spawn } from 'node:child_process'
import { accountVariables } from '../../../../daemon/local/profiles.ts'
import { exitCodes, Failure, usage } from '../../../base/failure.ts'
import type { Globals } from '../../../base/globals.ts'
import { accountFor } from '../../../base/profile.ts'
import { requireSite } from '../../../transport/client.ts'
import { findAccount } from '../../../transport/control.ts'
import { type Finding, listDifferences } from './compare.ts'
import type { Player } from './player.ts'
import { inOrder, type RecordedCall, type Recording } from './recording.ts'

interface BotRun {
  readonly bot: string
  readonly command: readonly string[]
  readonly within: string
  readonly globals: Globals
}

/** Calls that only read, and those to queues, may come in any number and order. */
function isChange({ method, path, endpoint }: Pick<RecordedCall, 'method' | 'path' | 'endpoint'>): boolean {
  return method !== 'GET' && endpoint !== null && !/^\/api\/v1\/(register|events)$/.test(path)
}

export async function playToBot(
  player: Player,
  { calls }: Recording,
  { bot, command, within, globals }: BotRun,
): Promise<Finding[]> {
  if (command.length === 0)
    throw usage('--bot needs a command', 'Example: natter replay FILE --bot echo-bot -- node bot.js')
  const account = await findAccount(globals, bot)
  const child = start(command, globals, account)
  try {
    const listening = await player.control('POST', '/queues/wait', { user: account.user_id, within: '30s' })
    if (listening.met !== true)
      throw new Failure(exitCodes.unmet, `the bot did not ask for events: ${command.join(' ')}`)
    const { last_id: before } = await player.control('GET', '/requests?limit=0')
    const findings: Finding[] = []
    let done = 0
    for (const call of inOrder(calls)) {
      if (call.user === account.email) {
        if (!isChange(call)) continue
        done++
        const changes = await awaitChanges(player, account.user_id, Number(before), done, within)
        findings.push(...compareChange(call, changes[done - 1]))
      } else if (isChange(call) && player.unplayable(call) === undefined) player.learn(call, await player.play(call))
    }
    const extra = (await awaitChanges(player, account.user_id, Number(before), 0, within)).slice(done)
    for (const change of extra)
      findings.push({ call: change.id, what: 'not in the recording', differs: [describe(change)] })
    return findings
  } finally {
    child.kill()
  }
}

interface LoggedCall {
  readonly id: number
  readonly method: string
  readonly path: string
  readonly endpoint: string | null
  readonly params: Readonly<Record<string, unknown>>
  readonly sent: Readonly<Record<string, unknown>>
  readonly duration_ms: number | null
}

/** The calls of the bot since then. Waits until there are as many as wanted, or until the time is up. */
async function awaitChanges(
  player: Player,
  userId: number,
  since: number,
  wanted: number,
  within: string,
): Promise<LoggedCall[]> {
  for (let last = since; ; ) {
    const reply = await player.control('GET', `/requests?user_id=${userId}&since=${since}&limit=100000`)
    const changes = (reply.requests as LoggedCall[]).filter(change => isChange(change) && change.duration_ms !== null)
    if (changes.length >= wanted) return changes
    last = Math.max(last, ...changes.map(({ id }) => id))
    const { met } = await player.control('POST', '/wait', {
      call: { user: userId, method: '/POST|PATCH|PUT|DELETE/' },
      since: last,
      within,
    })
    if (met !== true) return changes
  }
}

function compareChange(recorded: RecordedCall, change: LoggedCall | undefined): Finding[] {
  const what = `${recorded.method} ${recorded.path.replace(/^\/api\/v1/, '')} of the bot`
  if (!change) return [{ call: recorded.call, what, differs: ['the bot did not do this'] }]
  const differs = listDifferences(
    { endpoint: recorded.endpoint, params: recorded.sent },
    { endpoint: change.endpoint, params: change.sent },
    false,
  )
  return differs.length > 0 ? [{ call: recorded.call, what, differs }] : []
}

function describe({ method, path, sent }: LoggedCall): string {
  return `${method} ${path.replace(/^\/api\/v1/, '')} ${JSON.stringify(sent).slice(0, 200)}`
}

function start(
  command: readonly string[],
  globals: Globals,
  account: { email: string; api_key: string },
): ChildProcess {
  const site = requireSite(accountFor(globals, process.env))
  const values = { SITE: site, EMAIL: account.email, API_KEY: account.api_key }
  const { NATTER_CONTROL_TOKEN: _token, NATTER_READY_FILE: _file, ...inherited } = process.env
  const env = { ...inherited, ...Object.fromEntries(accountVariables(values)) }
  const [program, ...args] = command
  const child = spawn(program!, args, { stdio: ['ignore', 2, 2], env })
  child.on('error', () => {})
  return child
}
