// A daemon for as long as one command needs it, and the environment in which programs find it.

import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { accountVariables, profileFrom } from '../../../daemon/local/profiles.ts'
import type { Ready } from '../../../daemon/local/ready-file.ts'
import { zuliprcText } from '../../base/profile.ts'
import { signalCodes } from '../../base/signals.ts'
import { printError } from '../../base/writer.ts'
import { spawnDaemon } from '../server/daemon/process.ts'
import { waitUntilReady } from '../server/daemon/wait-ready.ts'

/** The daemon and the account that programs use. */
export type Place = Pick<Ready, 'url' | 'owner' | 'control_token' | 'level'>

/** Milliseconds. */
export const startTimeout = 30_000
const stopTimeout = 10_000

/** Characters of the daemon's log that are kept. */
const longestLog = 1_000_000

interface Fixture {
  readonly daemon: ChildProcess
  readonly ready: Ready
  /** A folder for files that live as long as the daemon. */
  readonly scratch: string
  /** The end of its log. */
  log(): string
  /** Ends it, which may fail if it has something to write. Resolves with its exit code; with 0 if it had ended before. */
  stop(): Promise<number | null>
}

/** Runs something with a daemon in memory on a free port, unless the flags say otherwise, and stops it afterwards. */
export async function withFixture<T>(
  flags: readonly string[],
  timeout: number,
  use: (fixture: Fixture) => Promise<T>,
): Promise<T> {
  // Before anything else: a signal without a listener would end this process and leave folder and daemon behind.
  let end = () => {}
  const release = endWithUs(() => end())
  const scratch = mkdtempSync(join(tmpdir(), 'natter-exec-'))
  const readyFile = join(scratch, 'ready.json')
  const has = (name: string) => flags.some(flag => flag === `--${name}` || flag.startsWith(`--${name}=`))
  const all = [...flags, '--no-profile', '--json', '--ready-file', readyFile]
  if (!has('data') && !has('memory')) all.push('--memory')
  if (!has('port')) all.push('--port', '0')
  const shown = has('log-level')
  let logged = ''
  // In a process group of its own, so that Ctrl-C at the terminal reaches only the command, which may need the daemon until it ends.
  const daemon = spawnDaemon(all, { stdio: ['ignore', 'ignore', 'pipe'], detached: true })
  end = () => {
    daemon.kill('SIGTERM')
    // The daemon may still be writing to the folder.
    rmSync(scratch, { recursive: true, force: true, maxRetries: 5 })
  }
  daemon.stderr!.setEncoding('utf8').on('data', text => {
    logged = (logged + text).slice(-longestLog)
    // Otherwise it is shown only if the daemon does not start.
    if (shown) printError(text)
  })
  const stop = async () => {
    if (daemon.exitCode !== null || daemon.signalCode !== null) return 0
    const ended = once(daemon, 'close')
    daemon.kill('SIGTERM')
    const timer = setTimeout(() => daemon.kill('SIGKILL'), stopTimeout)
    const [code] = await ended
    clearTimeout(timer)
    return code as number | null
  }
  try {
    const ready = await waitUntilReady(daemon, readyFile, timeout, () => logged.slice(-10_000))
    return await use({ daemon, ready, scratch, log: () => logged, stop })
  } finally {
    await stop()
    release()
    rmSync(scratch, { recursive: true, force: true })
  }
}

/** Stops the daemon when this process ends: in a process group of its own it would go on. Returns a function that undoes it. */
function endWithUs(end: () => void): () => void {
  process.once('exit', end)
  const exits = Object.entries(signalCodes)
    // A signal with a listener ends the process in its own way.
    .filter(([signal]) => process.listenerCount(signal) === 0)
    .map(([signal, code]) => [signal, () => process.exit(code)] as const)
  for (const [signal, exit] of exits) process.once(signal, exit)
  return () => {
    process.off('exit', end)
    for (const [signal, exit] of exits) process.off(signal, exit)
  }
}

/** Names the place and the account to natter and to the clients of the public server; writes a zuliprc file to the folder. */
export function environmentFor(place: Place, folder: string): NodeJS.ProcessEnv {
  const { url, owner, control_token: token } = place
  const zuliprc = join(folder, 'zuliprc')
  writeFileSync(zuliprc, zuliprcText(profileFrom(place)), { mode: 0o600 })
  const account = { SITE: url, EMAIL: owner.email, API_KEY: owner.api_key, USER_ID: String(owner.user_id) }
  const files = {
    ZULIP_CONFIG: zuliprc,
    NATTER_ZULIPRC: zuliprc,
    NATTER_LEVEL: String(place.level),
    ...(token && { NATTER_CONTROL_TOKEN: token }),
  }
  const { NATTER_CONTROL_TOKEN: _, NATTER_READY_FILE: __, ...inherited } = process.env
  return { ...inherited, ...Object.fromEntries(accountVariables(account)), ...files }
}
