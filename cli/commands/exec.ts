// `natter exec -- CMD`: runs a command with a daemon of its own, and exits with the command's code.

import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { constants, tmpdir } from 'node:os'
import { join } from 'node:path'
import { profileFrom, type Ready } from '../../daemon/api/local.ts'
import { Ending, exitCodes, Failure, usage } from '../base/failure.ts'
import { zuliprcText } from '../base/profile.ts'
import type { ExtraSubcommand } from '../base/subcommand.ts'
import { findAccount } from '../transport/control.ts'
import { flagIn, withoutFlag } from './daemon/files.ts'
import { daemonFlagsBut } from './daemon/flags.ts'
import { spawnDaemon } from './daemon/process.ts'
import { waitUntilReady } from './daemon/wait-ready.ts'

/** Where the command runs, and as whom. */
type Place = Pick<Ready, 'url' | 'owner' | 'control_token'>

const startTimeout = 30_000
const stopTimeout = 10_000

export const exec: readonly ExtraSubcommand[] = [
  {
    name: 'exec',
    about: 'Start a daemon, run a command with it, and stop the daemon; the exit code is that of the command',
    passes: '[daemon flags] -- <command> [arguments]',
    passedFlags: daemonFlagsBut('json', 'ready-file', 'no-profile', 'help', 'version'),
    flags: [
      { name: 'as', value: 'ACCOUNT', about: 'run the command as this account, by name, email or ID' },
      { name: 'in', value: 'URL', about: 'use a space of this daemon instead of a daemon of its own' },
    ],
    globals: ['timeout', 'quiet', 'control-token'],
    more: `The daemon keeps everything in memory unless you give --data, and uses a free port unless you give --port.
The command gets NATTER_SITE, NATTER_EMAIL, NATTER_API_KEY and NATTER_USER_ID, the same as ZULIP_*, and in ZULIP_CONFIG and
NATTER_ZULIPRC the path of a zuliprc file. These name the owner, or the account of --as. NATTER_CONTROL_TOKEN lets the command
use natter clock, reset, faults, --as and everything else of the control plane. With --as there is no token, because it opens
every account.
With --in, the command gets a space of a daemon that runs already, and the space is deleted when the command ends. The control
token is that of --control-token, of the URL (http://127.0.0.1:9991/#token=TOKEN), or the one saved for this daemon. A space takes
--preset, --seed, --clock, --secret and --dialect.`,
    examples: [
      'natter exec -- npm test',
      "natter exec --clock frozen -- sh -c 'natter users me && pytest'",
      'natter exec --preset dev --as echo-bot -- node bot.js',
      'natter exec --data ./store -- ./seed.sh',
      'natter exec --in http://127.0.0.1:9991 --preset dev -- pytest',
    ],
    async run({ args, rest = [], flags, globals }) {
      if (rest.length === 0) throw usage('no command given', 'Example: natter exec -- npm test')
      // After a flag of the daemon, the parser leaves all others to it.
      const as = flagIn(args, 'as') ?? (flags.as as string | undefined) ?? globals.as
      const place = flagIn(args, 'in') ?? (flags.in as string | undefined)
      const others = withoutFlag(withoutFlag(args, 'as'), 'in')
      const timeout = globals.timeout ?? startTimeout
      if (place === undefined) throw new Ending(await runWithDaemon(others, rest, timeout, as))
      const controlToken = flagIn(args, 'control-token') ?? globals.controlToken
      throw new Ending(
        await runInSpace(place, withoutFlag(others, 'control-token'), rest, { timeout, controlToken }, as),
      )
    },
  },
]

async function runInSpace(
  place: string,
  flags: readonly string[],
  command: readonly string[],
  { timeout, controlToken }: { readonly timeout: number; readonly controlToken: string | undefined },
  as: string | undefined,
): Promise<number> {
  const { withSpace } = await import('./spaces.ts')
  return withSpace(place, flags, { timeout, ...(controlToken && { controlToken }) }, async space => {
    const scratch = mkdtempSync(join(tmpdir(), 'natter-exec-'))
    try {
      return await runCommand(command, as === undefined ? space : await readyAs(space, as), scratch)
    } finally {
      rmSync(scratch, { recursive: true, force: true })
    }
  })
}

async function runWithDaemon(
  flags: readonly string[],
  command: readonly string[],
  timeout: number,
  as: string | undefined,
): Promise<number> {
  const scratch = mkdtempSync(join(tmpdir(), 'natter-exec-'))
  const readyFile = join(scratch, 'ready.json')
  const has = (name: string) => flags.some(flag => flag === `--${name}` || flag.startsWith(`--${name}=`))
  const all = [...flags, '--no-profile', '--json', '--ready-file', readyFile]
  if (!has('data') && !has('memory')) all.push('--memory')
  if (!has('port')) all.push('--port', '0')
  let logged = ''
  // In its own process group: Ctrl-C at the terminal is for the command, which may need the daemon until it ends.
  const daemon = spawnDaemon(all, { stdio: ['ignore', 'ignore', 'pipe'], detached: true })
  daemon.stderr!.setEncoding('utf8').on('data', text => {
    logged = (logged + text).slice(-10_000)
  })
  try {
    const ready = await waitUntilReady(daemon, readyFile, timeout, () => logged)
    return await runCommand(command, as === undefined ? ready : await readyAs(ready, as), scratch)
  } finally {
    if (daemon.exitCode === null && daemon.signalCode === null) {
      const ended = new Promise(resolve => daemon.once('exit', resolve))
      daemon.kill('SIGTERM')
      const timer = setTimeout(() => daemon.kill('SIGKILL'), stopTimeout)
      await ended
      clearTimeout(timer)
    }
    rmSync(scratch, { recursive: true, force: true })
  }
}

/** The same daemon for another account, which must not be able to open the others. */
async function readyAs(ready: Place, name: string): Promise<Place> {
  const { control_token: controlToken, ...rest } = ready
  if (!controlToken) throw usage('--as needs the control plane', 'Add --control, or leave out --data.')
  const owner = await findAccount({ site: ready.url, controlToken }, name)
  return { ...rest, owner }
}

function runCommand(command: readonly string[], ready: Place, scratch: string): Promise<number> {
  const { url, owner } = ready
  const zuliprc = join(scratch, 'zuliprc')
  writeFileSync(zuliprc, zuliprcText(profileFrom(ready)), { mode: 0o600 })
  const account = { SITE: url, EMAIL: owner.email, API_KEY: owner.api_key, USER_ID: String(owner.user_id) }
  const both = Object.entries(account).flatMap(([name, value]) => [
    [`NATTER_${name}`, value],
    [`ZULIP_${name}`, value],
  ])
  const { control_token: token } = ready
  const files = { ZULIP_CONFIG: zuliprc, NATTER_ZULIPRC: zuliprc, ...(token && { NATTER_CONTROL_TOKEN: token }) }
  const { NATTER_CONTROL_TOKEN: _, NATTER_READY_FILE: __, ...inherited } = process.env
  const env = { ...inherited, ...Object.fromEntries(both), ...files }
  const [program, ...rest] = command
  return new Promise((resolve, reject) => {
    let child: ChildProcess | undefined
    // Before the command starts, so that no signal is missed.
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const) {
      process.removeAllListeners(signal)
      // The terminal sends Ctrl-C to the command directly.
      process.on(signal, () => {
        if (signal !== 'SIGINT' || !process.stdin.isTTY) child?.kill(signal)
      })
    }
    child = spawn(program!, rest, { stdio: 'inherit', env })
    child.on('error', (error: NodeJS.ErrnoException) => {
      const missing = error.code === 'ENOENT'
      const exit = missing ? exitCodes.noSuchCommand : exitCodes.cannotRun
      reject(new Failure(exit, `cannot run ${program}: ${missing ? 'there is no such command' : error.code}`))
    })
    child.on('exit', (code, signal) => resolve(code ?? 128 + (signal ? constants.signals[signal] : 0)))
  })
}
