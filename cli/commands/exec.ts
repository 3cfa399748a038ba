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

const startTimeout = 30_000
const stopTimeout = 10_000

export const exec: readonly ExtraSubcommand[] = [
  {
    name: 'exec',
    about: 'Start a daemon, run a command with it, and stop the daemon; the exit code is that of the command',
    passes: '[daemon flags] -- <command> [arguments]',
    passedFlags: daemonFlagsBut('json', 'ready-file', 'no-profile', 'help', 'version'),
    flags: [{ name: 'as', value: 'ACCOUNT', about: 'run the command as this account, by name, email or ID' }],
    globals: ['timeout', 'quiet'],
    more: `The daemon keeps everything in memory unless you give --data, and uses a free port unless you give --port.
The command gets NATTER_SITE, NATTER_EMAIL, NATTER_API_KEY and NATTER_USER_ID, the same as ZULIP_*, and in ZULIP_CONFIG and
NATTER_ZULIPRC the path of a zuliprc file. These name the owner, or the account of --as. NATTER_CONTROL_TOKEN lets the command
use natter clock, reset, faults, --as and everything else of the control plane. With --as there is no token, because it opens
every account.`,
    examples: [
      'natter exec -- npm test',
      "natter exec --clock frozen -- sh -c 'natter users me && pytest'",
      'natter exec --preset dev --as echo-bot -- node bot.js',
      'natter exec --data ./store -- ./seed.sh',
    ],
    async run({ args, rest = [], flags, globals }) {
      if (rest.length === 0) throw usage('no command given', 'Example: natter exec -- npm test')
      // After a flag of the daemon, the parser leaves all others to it.
      const as = flagIn(args, 'as') ?? (flags.as as string | undefined) ?? globals.as
      throw new Ending(await runWithDaemon(withoutFlag(args, 'as'), rest, globals.timeout ?? startTimeout, as))
    },
  },
]

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
async function readyAs(ready: Ready, name: string): Promise<Ready> {
  const { control_token: controlToken, ...rest } = ready
  if (!controlToken) throw usage('--as needs the control plane', 'Add --control, or leave out --data.')
  const owner = await findAccount({ site: ready.url, controlToken }, name)
  return { ...rest, owner }
}

function runCommand(command: readonly string[], ready: Ready, scratch: string): Promise<number> {
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
