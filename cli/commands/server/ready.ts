// `natter ready`: whether a server answers, for scripts that did not start it themselves.

import { setTimeout as sleep } from 'node:timers/promises'
import { monotonicMs } from '../../../daemon/local/monotonic.ts'
import { AbsentReadyFile, exitCodes, Failure, usage } from '../../base/failure.ts'
import { readDuration } from '../../base/flag-values.ts'
import { formatFlags } from '../../base/globals.ts'
import { accountFor, normalSite } from '../../base/profile.ts'
import type { ExtraSubcommand, Invocation } from '../../base/subcommand.ts'
import { print } from '../../base/writer.ts'
import { printFormatted } from '../../print/output.ts'
import { requireSite, send } from '../../transport/client.ts'

const defaultWait = '30s'
/** Milliseconds. */
const pollInterval = 50
const answerTimeout = 5000

export const subcommands: readonly ExtraSubcommand[] = [
  {
    name: 'ready',
    about: 'Say whether a server is ready; exit code 0 if it is, 8 if it is starting, 6 if it cannot be reached',
    args: [{ name: 'url', about: 'the server; default: the current one', optional: true }],
    flags: [
      { name: 'wait', about: 'wait until it is ready; exit code 8 if that takes too long' },
      { name: 'within', value: 'TIME', about: `with --wait: give up after this long (default ${defaultWait})` },
    ],
    globals: [...formatFlags, 'quiet', 'site', 'profile', 'ready-file', 'timeout', 'dry-run', 'curl'],
    more: `With --wait and --ready-file, the file need not exist yet, or can be that of an earlier run that has ended: the daemon writes it when it
is ready, and the file is read again until the daemon that it names answers. --timeout is for one answer, --within for the whole wait.`,
    examples: [
      'natter ready',
      'natter ready --wait http://127.0.0.1:9991',
      'natter ready --wait --within 1m --ready-file ready.json',
    ],
    run: runReady,
  },
]

type State = 'ready' | 'starting' | 'unreachable'

async function runReady({ args, flags, globals }: Invocation): Promise<void> {
  const wait = flags.wait === true
  if (flags.within !== undefined && !wait) throw usage('--within needs --wait')
  const limit = readDuration('within', flags.within ?? defaultWait)
  const deadline = monotonicMs() + (wait ? limit : 0)
  const file = globals.readyFile ?? process.env.NATTER_READY_FILE
  const findSite = async () => {
    for (;;) {
      try {
        return args[0] === undefined ? requireSite(accountFor(globals, process.env)) : normalSite(args[0])
      } catch (error) {
        if (!wait || !(error instanceof AbsentReadyFile)) throw error
      }
      if (monotonicMs() >= deadline)
        throw new Failure(exitCodes.unmet, `there was no ready file ${file} within ${limit / 1000} s`, {
          hint: 'The log of the daemon says why: what natterd prints on stderr.',
        })
      await sleep(pollInterval)
    }
  }
  let site = await findSite()
  if (globals.dryRun || globals.curl)
    return (await import('../../print/request-text.ts')).printRequest({ site, from: {} }, probe('/readyz'), globals)
  let state = await probeState(site, globals.timeout)
  while (state !== 'ready' && monotonicMs() < deadline) {
    await sleep(pollInterval)
    // Again, because a ready file can be that of an earlier run until the daemon removes it and writes its own.
    site = await findSite()
    state = await probeState(site, globals.timeout)
  }
  const printed = await printFormatted({ ready: state === 'ready', state, url: site }, globals)
  if (state === 'ready') return printed ? undefined : void print(`ready  ${site}\n`)
  const late = wait ? ` within ${limit / 1000} s` : ''
  if (wait || state === 'starting')
    throw new Failure(
      exitCodes.unmet,
      `${site} was not ready${late}: ${state === 'starting' ? 'it is starting' : 'nothing answers'}`,
    )
  throw new Failure(exitCodes.unreachable, `${site} does not answer`, { hint: 'Add --wait to wait for it.' })
}

/** Other servers have no probe, but answer a request for their settings without an account. */
async function probeState(site: string, timeout = answerTimeout): Promise<State> {
  const account = { site, from: {} }
  try {
    const { status } = await send(account, probe('/readyz'), { timeout })
    if (status === 200) return 'ready'
    if (status !== 404) return 'starting'
    const settings = await send(account, probe('/api/v1/server_settings'), { timeout })
    return settings.status === 200 ? 'ready' : 'starting'
  } catch (error) {
    if (error instanceof Failure) return 'unreachable'
    throw error
  }
}

function probe(path: string) {
  return { method: 'GET', path, fields: new Map<string, string>() }
}
