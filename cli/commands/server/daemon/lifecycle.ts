// Start, stop, restart and status of a daemon in the background.

import { closeSync, constants, existsSync, fstatSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { refuseDevice, writeFileAtomicallySync } from '../../../../daemon/local/atomic-file.ts'
import { type DaemonFlag, daemonFlags } from '../../../../daemon/local/flags.ts'
import { isLoopbackSite } from '../../../../daemon/local/loopback.ts'
import { monotonicMs } from '../../../../daemon/local/monotonic.ts'
import { openPlainSync } from '../../../../daemon/local/plain-files.ts'
import { isAlive } from '../../../../daemon/local/processes.ts'
import { localProfile, nameBeside, profileFrom, withProfile } from '../../../../daemon/local/profiles.ts'
import { logLevelFileName, type Ready, type Running } from '../../../../daemon/local/ready-file.ts'
import { shellWord } from '../../../../daemon/local/shell-word.ts'
import { flagIn, withoutFlag } from '../../../base/command-line.ts'
import { Ending, exitCodes, Failure, usage } from '../../../base/failure.ts'
import { forgetProfiles } from '../../../base/forget-profiles.ts'
import type { Globals } from '../../../base/globals.ts'
import { note } from '../../../base/note.ts'
import {
  accountFor,
  changeProfiles,
  profilesFile,
  readProfiles,
  removeProfile,
  saveProfile,
} from '../../../base/profile.ts'
import { siteVariable } from '../../../base/settings.ts'
import { onSignals } from '../../../base/signals.ts'
import type { Invocation } from '../../../base/subcommand.ts'
import { print } from '../../../base/writer.ts'
import { printFormatted } from '../../../print/output.ts'
import { send } from '../../../transport/client.ts'
import {
  folderOfRunning,
  folderToStart,
  isFolderGiven,
  localDaemon,
  logFile,
  prepareFolder,
  readFrom,
  readRunning,
  runningFile,
} from './files.ts'
import { spawnDaemon } from './process.ts'
import { waitUntilReady } from './wait-ready.ts'

const startTimeout = 30_000
const stopTimeout = 10_000
const step = 25

export async function start({ args, globals }: Pick<Invocation, 'args' | 'globals'>): Promise<void> {
  const { folder, release } = folderToStart(args)
  try {
    await startIn(folder, args, globals)
  } finally {
    release()
  }
}

async function startIn(folder: string, args: readonly string[], globals: Globals): Promise<void> {
  const running = await findRunning(folder)
  if (running) {
    const named = flagIn(args, 'data') ?? (folder === folderOfRunning({}) ? undefined : folder)
    throw new Failure(exitCodes.refused, `a daemon already runs at ${running.url} (process ${running.pid})`, {
      code: 'ALREADY_RUNNING',
      hint: `Use it, stop it with \`natter daemon stop${nameFolder(named)}\`, or ${startAnother(args)}.`,
    })
  }
  const ready = await launch(folder, args, globals.timeout ?? startTimeout)
  if (!hasNoProfile(args)) await saveLocal(ready, args, folder)
  const set = siteVariable(process.env)
  if (set && ![ready.url, flagIn(args, 'ready-file')].includes(process.env[set]))
    note(
      `${set} names another server and comes before profiles; unset it, or use --profile ${localProfile}, for this daemon`,
    )
  if (await printFormatted(ready, globals)) return
  note('natter daemon is ready')
  print(`url    ${ready.url}\nowner  ${ready.owner.email}\nkey    ${keyPlace(args)}\n`)
  print(`store  ${nameStore(folder, args)}\nlog    ${logFile(folder)}\n`)
}

function startAnother(args: readonly string[]): string {
  const isFree = args.includes('--memory') && flagIn(args, 'data') === undefined
  return isFree ? 'start another one beside it with --port 0' : 'name another folder with --data'
}

/** The folder of a daemon in memory has its log only. */
function nameStore(folder: string, args: readonly string[] = []): string {
  return args.includes('--memory') ? 'memory only' : folder
}

/** The flag, as it is given again. */
function nameFolder(given: string | undefined): string {
  return given === undefined ? '' : ` --data ${shellWord(given)}`
}

function hasNoProfile(args: readonly string[]): boolean {
  return args.includes('--no-profile') || Boolean(process.env.NATTER_NO_PROFILE)
}

function keyPlace(args: readonly string[]): string {
  const file = hasNoProfile(args) ? flagIn(args, 'ready-file') : profilesFile(process.env)
  return file === undefined ? 'not saved; --ready-file FILE saves it' : `in ${file}`
}

/** The profile `local` is for the daemon that was started last. That of another one that still runs is kept under another name. */
async function saveLocal(ready: Ready, args: readonly string[], folder: string): Promise<void> {
  const { current, profiles } = readProfiles(process.env)
  const before = profiles[localProfile]
  const isOther = before && before.site !== ready.url && URL.canParse(before.site)
  const runs = isOther && (await answers(before.site)) !== 'nothing'
  let isSame = true
  changeProfiles(book => {
    isSame = book.profiles[localProfile]?.site === before?.site
    if (!isSame) return book
    const aside = runs ? withProfile(book, nameBeside(before.site), before) : book
    const profile = args.includes('--memory')
      ? { ...profileFrom(ready), log_folder: folder }
      : profileFrom(ready, folder)
    return withProfile(aside, localProfile, profile)
  }, process.env)
  // Another daemon was started meanwhile.
  if (!isSame) return saveLocal(ready, args, folder)
  if (runs) {
    const other = nameBeside(before.site)
    note(`the profile ${localProfile} was for the daemon at ${before.site}, which still runs; it is now for this one`)
    note(`use --profile ${other} for the other one; natter daemon stop goes back to it`)
  }
  if (current && current !== localProfile)
    note(`the current profile is still ${current}; use --profile ${localProfile} for this daemon`)
}

/**
 * After the end of the daemon at this address: the profile `local` is for another one that runs, if there is one. Profiles beside it
 * whose daemon has ended are removed; a daemon that is started again writes its own.
 */
async function restoreLocal(ended: string): Promise<void> {
  const { current, profiles } = readProfiles(process.env)
  let isLost = profiles[localProfile]?.site === ended
  // The one that was put aside last comes first.
  for (const [name, profile] of Object.entries(profiles).reverse()) {
    // A profile of a cluster has several sites.
    if (!URL.canParse(profile.site) || name !== nameBeside(profile.site)) continue
    if ((await answers(profile.site)) === 'nothing') {
      const isMade = isLoopbackSite(profile.site) && !profile.limits && name !== current
      if (isMade) removeProfile(name, process.env)
    } else if (isLost) {
      saveProfile(localProfile, profile, process.env)
      note(`the profile ${localProfile} is for the daemon at ${profile.site} again`)
      isLost = false
    }
  }
}

export async function stop({ flags, globals }: Invocation): Promise<void> {
  const folder = await chooseFolder(flags)
  const running = await findRunning(folder)
  if (!running) throw await notRunning(folder)
  if (flags.data === undefined) demandMeant(running, folder)
  const unsaved = await end(running, folder, globals.timeout ?? stopTimeout)
  await restoreLocal(running.url)
  // Spaces end with their daemon.
  forgetProfiles((site, name) => name.startsWith('space-') && site.startsWith(`${running.url}/spaces/`), process.env)
  if (unsaved) throw new Failure(exitCodes.refused, `the daemon at ${running.url} has stopped, but ${unsaved}`)
  if (!(await printFormatted({ stopped: true, pid: running.pid, url: running.url }, globals)))
    note(`stopped the daemon at ${running.url}`)
}

/** A command of `natter exec` means the daemon in its environment, not the one that the profile is of. */
function demandMeant({ url }: Running, folder: string): void {
  const site = process.env.NATTER_SITE
  if (!site || site === url || site.startsWith(`${url}/`)) return
  throw usage(
    `NATTER_SITE names ${site}, which is not the daemon of ${folder}, at ${url}`,
    `If you mean this daemon, add --data ${shellWord(folder)}.`,
  )
}

export async function restart({ args, globals }: Invocation): Promise<void> {
  const folder = await chooseFolder({ data: flagIn(args, 'data') })
  const running = await findRunning(folder)
  if (!running) throw await notRunning(folder)
  if (flagIn(args, 'data') === undefined) demandMeant(running, folder)
  const unsaved = await end(running, folder, stopTimeout)
  if (unsaved) note(unsaved)
  const flags = withFlags(rebuildFlags(running), withoutFlag(args, 'data'))
  await start({ args: ['--data', folder, ...flags], globals })
  if (flags.includes('--memory') && flagIn(flags, 'secret') === undefined)
    note(
      'what the daemon held in memory is gone, and its accounts have new keys; --secret TEXT makes the same keys again',
    )
}

/** The level is passed in a file, because a signal carries no value. */
export async function reload({ flags, globals }: Invocation): Promise<void> {
  const folder = await chooseFolder(flags)
  const level = flags['log-level'] as string | undefined
  const levels: readonly string[] = daemonFlags['log-level'].choices
  if (level !== undefined && !levels.includes(level))
    throw usage(`--log-level takes ${levels.join(', ')}, not '${level}'`)
  if (process.platform === 'win32')
    throw new Failure(
      exitCodes.refused,
      'Windows has no signal for this; restart the daemon with `natter daemon restart`',
    )
  const running = await findRunning(folder)
  if (!running) throw await notRunning(folder)
  const file = join(folder, logLevelFileName)
  // Also a link or a pipe, which is not replaced.
  rmSync(file, { force: true })
  if (level !== undefined) writeFileAtomicallySync(file, `${level}\n`, { durable: false, toOwner: true })
  process.kill(running.pid, 'SIGHUP')
  if (!(await printFormatted({ reloaded: true, pid: running.pid, url: running.url }, globals)))
    note(`asked the daemon at ${running.url} to reload; its log says what came of it`)
}

export async function status({ flags, globals }: Invocation): Promise<void> {
  const folder = await chooseFolder(flags)
  const running = await findRunning(folder)
  const ready = running !== undefined && (await answers(running.url)) === 'ready'
  const { pid = null, url = null } = running ?? {}
  const formatted = await printFormatted({ running: running !== undefined, ready, pid, url, data: folder }, globals)
  if (!formatted && running)
    print(
      `${ready ? 'running' : 'not ready'}\nurl    ${url}\npid    ${pid}\nstore  ${nameStore(folder, running.args)}\n`,
    )
  else if (!formatted) print(`not running\nstore  ${folder}\n`)
  if (running) return
  const { site } = accountFor(globals, process.env)
  if (site && !formatted && (await answers(site)) === 'ready')
    note(`${site} answers, but has another store: name its folder with --data. ${withoutFolder}`)
  throw new Ending(exitCodes.notFound)
}

/** Flags that only a new store follows. */
const founding = ['preset', 'seed', 'owner', 'org', 'import']

/** The flags it was started with, without those that `launch` adds. */
function rebuildFlags({ args = [], url }: Running): string[] {
  let flags = withoutFlag(args, 'data').filter(flag => flag !== '--json')
  // A second one was given by the user.
  if (args.includes('--json'))
    flags = flags.filter((flag, index) => flag !== '--no-profile' || index !== flags.lastIndexOf(flag))
  // A store has its organization when it runs.
  if (!flags.includes('--memory')) flags = founding.reduce(withoutFlag, flags)
  // At the same port, even if the system had chosen it, so that clients find it again.
  if (flagIn(flags, 'port') === '0') flags = [...withoutFlag(flags, 'port'), '--port', new URL(url).port]
  const readyFile = flagIn(flags, 'ready-file')
  return readyFile && existsSync(dirname(readyFile)) ? flags : withoutFlag(flags, 'ready-file')
}

/** The flags of before, with these added or in their place. */
function withFlags(before: readonly string[], given: readonly string[]): string[] {
  const names = given.filter(item => item.startsWith('--')).map(item => item.slice(2).split('=')[0]!)
  return [...names.reduce<readonly string[]>(withoutDaemonFlag, before), ...given]
}

/** Also its opposite: --rate-limit for --no-rate-limit. */
function withoutDaemonFlag(args: readonly string[], name: string): string[] {
  const flag = (daemonFlags as Readonly<Record<string, DaemonFlag>>)[name]
  if (flag?.type !== 'switch') return withoutFlag(args, name)
  const opposite = name.startsWith('no-') ? name.slice(3) : `no-${name}`
  return args.filter(item => item !== `--${name}` && item !== `--${opposite}`)
}

/** Without --data it is the daemon of the profile `local`. Where that one is not found, no other is taken for it. */
export async function chooseFolder(flags: Readonly<Record<string, unknown>>): Promise<string> {
  const folder = folderOfRunning(flags)
  const local = localDaemon()
  const running = readRunning(folder)
  if (isFolderGiven(flags) || !running || local.folder === folder || running.url === local.site) return folder
  const { site = '' } = local
  if (!URL.canParse(site) || !isLoopbackSite(site) || (await answers(site)) === 'nothing') return folder
  throw new Failure(
    exitCodes.refused,
    `the profile ${localProfile} is for ${site}, and the folder of that daemon is not known`,
    {
      hint: `Name the folder of the daemon that you mean with --data. That of the one at ${running.url} is ${shellWord(folder)}.`,
    },
  )
}

/** The process is not enough, because it may be one for another folder: something must also listen at the URL. */
async function findRunning(folder: string): Promise<Running | undefined> {
  const found = readRunning(folder)
  return found && (await answers(found.url)) !== 'nothing' ? found : undefined
}

async function answers(url: string): Promise<'ready' | 'busy' | 'nothing'> {
  try {
    const request = { method: 'GET', path: '/readyz', fields: new Map() }
    return (await send({ site: url, from: {} }, request, { timeout: 2000 })).status === 200 ? 'ready' : 'busy'
  } catch (error) {
    return error instanceof Failure && error.exit === exitCodes.unreachable ? 'nothing' : 'busy'
  }
}

async function launch(folder: string, args: readonly string[], timeout: number): Promise<Ready> {
  prepareFolder(folder)
  const log = openPlainSync(logFile(folder), constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND, 0o600)
  const wanted = flagIn(args, 'ready-file')
  if (wanted !== undefined) refuseDevice(resolve(wanted))
  let undo = () => {}
  // Later, nothing would find the daemon.
  const interrupted = new Promise<never>((_resolve, reject) => {
    undo = onSignals(code => {
      child.kill('SIGTERM')
      reject(new Ending(code))
    })
  })
  const scratch = mkdtempSync(join(tmpdir(), 'natter-'))
  const readyFile = wanted === undefined ? join(scratch, 'ready.json') : resolve(wanted)
  const before = fstatSync(log).size
  // With --json the daemon prints no banner, so that no key gets into the log. The profile is written here.
  const ours = ['--json', '--no-profile', '--ready-file', readyFile]
  const all = [...withoutFlag(withoutFlag(args, 'ready-file'), 'data'), ...ours]
  if (!args.includes('--memory')) all.push('--data', folder)
  const child = spawnDaemon(all, { stdio: ['ignore', 'ignore', log], detached: true })
  try {
    const logged = () => readFrom(logFile(folder), before).text
    const ready = await Promise.race([waitUntilReady(child, readyFile, timeout, logged), interrupted])
    child.unref()
    remember(ready, folder, all)
    const ignored = /the store already has an organization; .*/.exec(logged())?.[0]
    if (ignored !== undefined) note(`${ignored}; for a new organization, name another folder with --data`)
    return ready
  } finally {
    undo()
    closeSync(log)
    rmSync(scratch, { recursive: true, force: true })
  }
}

/** Writes `daemon.json` for a daemon in memory, which does not write it. */
function remember(ready: Ready, folder: string, args: readonly string[]): void {
  const { url, pid } = ready
  if (readRunning(folder)?.pid !== pid)
    writeFileAtomicallySync(runningFile(folder), `${JSON.stringify({ pid, url, args } satisfies Running)}\n`, {
      durable: false,
    })
}

/** Returns what the daemon says if it could not write the file of --snapshot-on-exit: its exit code is not known here. */
async function end(running: Running, folder: string, timeout: number): Promise<string | undefined> {
  const before = statSync(logFile(folder), { throwIfNoEntry: false })?.size
  process.kill(running.pid, 'SIGTERM')
  const deadline = monotonicMs() + timeout
  while (isAlive(running.pid)) {
    if (monotonicMs() > deadline)
      throw new Failure(
        exitCodes.unmet,
        `process ${running.pid} still runs ${timeout / 1000} s after it was asked to stop`,
        {
          hint: `See natter daemon logs; kill -9 ${running.pid} loses nothing that was answered.`,
        },
      )
    await sleep(step)
  }
  // Another daemon may have started meanwhile.
  if (readRunning(folder) === undefined) rmSync(runningFile(folder), { force: true })
  const said = before === undefined ? '' : readFrom(logFile(folder), before).text
  return /the snapshot .* could not be written: .*/.exec(said)?.[0]
}

/** `natter daemon run --memory` leaves nothing by which it could be found. */
const withoutFolder =
  'One of `natter daemon run --memory` has no folder: stop it with Ctrl-C, or with kill and the `pid` of its ready file.'

async function notRunning(folder: string): Promise<Failure> {
  const site = process.env.NATTER_SITE || readProfiles(process.env).profiles[localProfile]?.site
  const isOfMachine = site !== undefined && URL.canParse(site) && isLoopbackSite(site)
  const isElsewhere = isOfMachine && (await answers(site)) !== 'nothing'
  const isUsual = folder === folderOfRunning({})
  return new Failure(exitCodes.notFound, `no daemon runs on ${folder}`, {
    hint: isElsewhere
      ? `The daemon at ${site} has another folder: name it with --data. ${withoutFolder}`
      : `Start one with \`natter daemon start${nameFolder(isUsual ? undefined : folder)}\`.`,
  })
}
