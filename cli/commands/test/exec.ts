// `natter exec -- CMD`: runs a command with a daemon of its own, and exits with the command's code.

import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { extname, join, resolve } from 'node:path'
import { didYouMean } from '../../../daemon/local/did-you-mean.ts'
import { resumeCommand, snapshotName, withoutSecrets } from '../../../daemon/local/failure-files.ts'
import { type ClientFinding, findingsText } from '../../../daemon/local/findings.ts'
import { daemonFlagList } from '../../../daemon/local/flags.ts'
import type { Ready } from '../../../daemon/local/ready-file.ts'
import { flagIn, withoutFlag } from '../../base/command-line.ts'
import { Ending, exitCodes, usage } from '../../base/failure.ts'
import { readGlobals } from '../../base/globals.ts'
import { note } from '../../base/note.ts'
import { nextSignal } from '../../base/signals.ts'
import type { ExtraSubcommand } from '../../base/subcommand.ts'
import { printError } from '../../base/writer.ts'
import { callControlPlane, findAccount } from '../../transport/control.ts'
import { lastLines } from '../server/daemon/files.ts'
import { daemonFlagsBut } from '../server/daemon/flags.ts'
import { runChild } from './child.ts'
import { environmentFor, type Place, startTimeout, withFixture } from './fixture.ts'

export const subcommands: readonly ExtraSubcommand[] = [
  {
    name: 'exec',
    about: 'Start a daemon, run a command with it, and stop the daemon; the exit code is that of the command',
    passes: '[daemon flags] -- <command> [arguments]',
    passedFlags: daemonFlagsBut('json', 'ready-file', 'no-profile', 'help', 'version'),
    flags: [
      { name: 'as', value: 'ACCOUNT', about: 'run the command as this account, by name, email or ID' },
      { name: 'in', value: 'URL', about: 'use a space of this daemon instead of a daemon of its own' },
      { name: 'on-failure', value: 'DIR', about: 'if the command fails, keep what explains it in this folder' },
      { name: 'strict-fails', about: 'as --strict, and exit with 8 if the command succeeds but there are findings' },
      { name: 'resume', value: 'DIR', about: 'start with the organization of such a folder' },
      { name: 'levels', value: 'LEVELS', about: 'run the command once for each feature level: 421,12.0,latest' },
      { name: 'jobs', value: 'N', about: 'with --levels: how many run at a time, 1 by default' },
    ],
    globals: ['timeout', 'quiet', 'control-token'],
    more: `The daemon keeps everything in memory unless you give --data, and uses a free port unless you give --port. With --log-level
its log is printed on stderr.

The command gets NATTER_SITE, NATTER_EMAIL, NATTER_API_KEY and NATTER_USER_ID, the same as ZULIP_*, and in ZULIP_CONFIG and
NATTER_ZULIPRC the path of a zuliprc file. These name the owner, or the account of --as. NATTER_CONTROL_TOKEN lets the command
use natter clock, reset, faults, --as and everything else of the control plane. With --as there is no token, because it opens
every account.

With --in, the command gets a space of a daemon that runs already, and the space is deleted when the command ends. The control
token is that of --control-token, of the URL (http://127.0.0.1:9991/#token=TOKEN), or the one saved for this daemon. A space takes
--preset, --seed, --clock, --secret, --dialect, --level and --strict.

With --strict, what clients sent that a public server refuses, ignores or has deprecated is listed on stderr when the command ends.

With --on-failure, calls, events, queues, the log, the clock, the seed and a snapshot are kept if the command does not end with 0, and the
same of every space that it left, in spaces/NAME. The command gets NATTER_ON_FAILURE: tests of node:test that use startNatter, and
fixtures of \`natter init\`, then keep what explains each failed test. --resume starts with that snapshot; without a command it runs until
Ctrl-C, so that you can look at it.

With --levels, the command runs once for each feature level, with NATTER_LEVEL set, which startNatter follows. A table says how each run ended, with the number of
tests that failed, and a line below it names the first test that fails at some of the levels only. The exit code is that of the worst run.
What the command prints goes to stderr. --on-failure keeps each level in a folder of its own: DIR/421.`,
    examples: [
      'natter exec -- npm test',
      "natter exec --clock frozen -- sh -c 'natter users me && pytest'",
      'natter exec --preset dev --as echo-bot -- node bot.js',
      'natter exec --data ./store -- ./seed.sh',
      'natter exec --on-failure failure -- npm test',
      'natter exec --resume failure',
      'natter exec --in http://127.0.0.1:9991 --preset dev -- pytest',
      'natter exec --log-level info -- pytest',
      'natter exec --strict-fails --as echo-bot -- pytest',
      'natter exec --levels 421,498,latest --jobs 3 -- npm test',
    ],
    async run({ args, rest = [], flags, globals }) {
      // After a flag of the daemon, the parser leaves all others to it.
      const own = (name: string) => flagIn(args, name) ?? (flags[name] as string | undefined)
      const [place, resume, onFailure] = [own('in'), own('resume'), own('on-failure')]
      const as = own('as') ?? globals.as
      for (const word of args) refuseUnknownFlag(word)
      if (rest.length === 0 && resume === undefined)
        throw usage('no command given after --', 'Example: natter exec -- npm test')
      if (place !== undefined && (resume ?? onFailure) !== undefined)
        throw usage(
          '--in cannot be combined with --resume and --on-failure',
          'natter keep DIR, in the command, keeps what explains a failure.',
        )
      if (resume !== undefined && onFailure !== undefined && `${resolve(resume)}/`.startsWith(`${resolve(onFailure)}/`))
        throw usage('--on-failure needs another folder than --resume', 'What an earlier run kept is removed from it.')
      const strictFails = args.includes('--strict-fails') || flags['strict-fails'] === true
      const strict: Strictness = strictFails ? 'fails' : args.includes('--strict') ? 'reports' : undefined
      const others = ['as', 'in', 'resume', 'on-failure', 'levels', 'jobs', 'timeout']
        .reduce(withoutFlag, [...args])
        .filter(flag => !['--strict-fails', '--strict', '--quiet'].includes(flag))
      if (strict) others.push('--strict')
      const late = flagIn(args, 'timeout')
      const timeout = (late === undefined ? globals : readGlobals(new Map([['timeout', late]]))).timeout ?? startTimeout
      const controlToken = flagIn(args, 'control-token') ?? globals.controlToken
      const runOnce = (more: readonly string[], keptIn = onFailure, run: RunOptions['run'] = runChild) => {
        const options = { timeout, as, strict, onFailure: keptIn, run }
        const flags = [...others, ...more]
        if (place === undefined) return runWithDaemon([...flags, ...flagsToResume(resume)], rest, options)
        return runInSpace(place, withoutFlag(flags, 'control-token'), rest, options, controlToken)
      }
      const levels = own('levels')
      const jobs = own('jobs')
      if (levels === undefined) {
        if (jobs !== undefined) throw usage('--jobs needs --levels')
        throw new Ending(await runOnce([]))
      }
      if (rest.length === 0 || flagIn(args, 'data') !== undefined || flagIn(args, 'level') !== undefined)
        throw usage('--levels needs a command, and cannot be combined with --level or --data')
      let prepared: Promise<void> | undefined
      const runAt = async (level: string, run: RunOptions['run']) => {
        if (onFailure === undefined) return runOnce(['--level', level], undefined, run)
        prepared ??= prepareFolder(onFailure)
        await prepared
        return runOnce(['--level', level], join(onFailure, level), run)
      }
      const { runAtLevels } = await import('./level-runs.ts')
      throw new Ending(await runAtLevels(levels, jobs, runAt))
    },
  },
]

/** The daemon would refuse it too, but cannot know the flags of exec. */
function refuseUnknownFlag(word: string): void {
  const name = /^--([^=]+)/.exec(word)?.[1]
  const { flags = [], globals = [] } = subcommands[0]!
  const known = [...flags.map(flag => flag.name), ...globals, ...daemonFlagList.map(([flag]) => flag)]
  if (name === undefined || known.includes(name)) return
  throw usage(
    `unknown option '--${name}'`,
    didYouMean(
      `--${name}`,
      known.map(flag => `--${flag}`),
    ) ?? 'The command and its flags go after --: natter exec -- npm test',
  )
}

async function runInSpace(
  place: string,
  flags: readonly string[],
  command: readonly string[],
  { timeout, as, strict, run }: RunOptions,
  controlToken: string | undefined,
): Promise<number> {
  const { withSpace } = await import('./spaces.ts')
  return withSpace(place, flags, { timeout, ...(controlToken && { controlToken }) }, async space => {
    const scratch = mkdtempSync(join(tmpdir(), 'natter-exec-'))
    try {
      const code = await runCommand(command, as === undefined ? space : await readyAs(space, as), scratch, run)
      return await withFindings(strict, space, code)
    } finally {
      rmSync(scratch, { recursive: true, force: true })
    }
  })
}

/** Whether findings are listed, and whether they make the run fail. */
type Strictness = 'reports' | 'fails' | undefined

interface RunOptions {
  readonly timeout: number
  readonly as: string | undefined
  readonly strict: Strictness
  readonly onFailure: string | undefined
  readonly run: (command: readonly string[], env: NodeJS.ProcessEnv) => Promise<number>
}

async function runWithDaemon(
  flags: readonly string[],
  command: readonly string[],
  { timeout, as, strict, onFailure, run }: RunOptions,
): Promise<number> {
  return withFixture(flags, timeout, async ({ ready, daemon, scratch, log, stop }) => {
    if (onFailure !== undefined && !ready.control_token)
      throw usage('--on-failure needs the control plane', 'Add --control, or leave out --data.')
    /** The exit code, if the daemon ends as it should: without the snapshot of --snapshot-on-exit nothing is done. */
    const ending = async (code: number) => {
      if ((await stop()) === 0) return code
      printError(`the daemon failed when it stopped: ${lastLines(log(), 1)[0] ?? 'it did not end in time'}\n`)
      return code || exitCodes.refused
    }
    if (command.length === 0) return ending(await waitForInterrupt(ready, daemon))
    const place = as === undefined ? ready : await readyAs(ready, as)
    // In a script it would only be in the way of the command's own output.
    if (process.stderr.isTTY) note(`a daemon runs at ${ready.url}; inspector: ${ready.inspector}`)
    if (onFailure !== undefined) await prepareFolder(onFailure)
    const code = await runCommand(command, place, scratch, run, onFailure)
    if (code !== 0 && onFailure !== undefined) await keepRun(onFailure, ready, { command, flags, code, logged: log() })
    return ending(await withFindings(strict, ready, code))
  })
}

/** Lists the findings of --strict. Returns the exit code of the command, or another one if findings make the run fail. */
async function withFindings(strict: Strictness, { url, control_token }: Place, code: number): Promise<number> {
  if (!strict || !control_token) return code
  const daemon = { site: url, controlToken: control_token }
  const reply = await callControlPlane(daemon, { method: 'GET', path: '/control/v1/findings' })
  const findings = reply.findings as unknown as ClientFinding[]
  if (findings.length === 0) return code
  printError(`${findingsText(findings, Number(reply.left_out))}\n`)
  return strict === 'fails' && code === 0 ? exitCodes.unmet : code
}

/** Flags for a daemon that begins with the snapshot of a folder of --on-failure. */
function flagsToResume(folder: string | undefined): string[] {
  if (folder === undefined) return []
  const file = join(folder, snapshotName)
  if (!existsSync(file))
    throw usage(`--resume: ${folder} has no ${snapshotName}`, 'natter exec --on-failure DIR makes such a folder.')
  return ['--from', file]
}

/** Waits until the user interrupts it, or the daemon ends. */
function waitForInterrupt({ url, inspector }: Ready, daemon: ChildProcess): Promise<number> {
  const ended = once(daemon, 'exit').then(([code]) => code ?? exitCodes.refused)
  const interrupted = nextSignal('SIGINT', 'SIGTERM', 'SIGHUP').then(() => exitCodes.done)
  printError(`Running at ${url} until Ctrl-C.\nInspector: ${inspector}\n`)
  return Promise.race([ended, interrupted])
}

interface FailedCommand {
  readonly command: readonly string[]
  readonly flags: readonly string[]
  readonly code: number
  readonly logged: string
}

/** Loaded only where it is needed, as everything about failures. */
async function prepareFolder(folder: string): Promise<void> {
  await (await import('./keep.ts')).prepareFolder(folder)
}

/** Errors are only noted: the exit code must stay that of the command. */
async function keepRun(folder: string, ready: Ready, { command, flags, code, logged }: FailedCommand): Promise<void> {
  try {
    const seed = flagIn(flags, 'seed')
    const more: [string, string][] = [['daemon.log', logged]]
    if (seed !== undefined) more.push([`seed${extname(seed)}`, await seedWithoutPasswords(seed)])
    const run = { what: command.join(' '), exit_code: code, flags: withoutSecrets(flags) }
    const { keepFailure } = await import('./keep.ts')
    const { keptTests } = await import('../../../daemon/local/failure-folder.ts')
    const spaces = await keepFailure(folder, { site: ready.url, controlToken: ready.control_token! }, run, more)
    // Tests that have a daemon or a space of their own leave the daemon of the command as it was.
    const [first = folder, ...others] = [...spaces, ...keptTests(folder)]
    const rest = others.length === 0 ? '' : ` (${others.length} more in ${folder})`
    note(`the command failed; see ${join(folder, 'README.md')}, or run ${resumeCommand(first)}${rest}`)
  } catch (error) {
    note(`the failure could not be kept: ${(error as Error).message}`)
  }
}

async function seedWithoutPasswords(file: string): Promise<string> {
  const text = readFileSync(file, 'utf8')
  if (/\.ya?ml$/i.test(file)) return (await import('../../../daemon/local/yaml.ts')).hidePasswords(text)
  return text.replace(/("\w*password\w*"\s*:\s*)"(?:[^"\\]|\\.)*"/gi, '$1"***"')
}

/** The same daemon for another account, without the control token, which would open all accounts. */
async function readyAs(ready: Place, name: string): Promise<Place> {
  const { control_token: controlToken, ...rest } = ready
  if (!controlToken) throw usage('--as needs the control plane', 'Add --control, or leave out --data.')
  const owner = await findAccount({ site: ready.url, controlToken }, name)
  return { ...rest, owner }
}

/** With NATTER_ON_FAILURE set, fixtures leave the space of a failed test, or keep what explains the failure themselves. */
function runCommand(
  command: readonly string[],
  ready: Place,
  scratch: string,
  run: RunOptions['run'],
  onFailure?: string,
): Promise<number> {
  const env = environmentFor(ready, scratch)
  return run(command, onFailure === undefined ? env : { ...env, NATTER_ON_FAILURE: resolve(onFailure) })
}
