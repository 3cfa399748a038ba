// Files of a daemon in the background: `daemon.json` and `daemon.log` in the folder of its store.

import { execFileSync } from 'node:child_process'
import {
  closeSync,
  existsSync,
  fstatSync,
  readdirSync,
  readlinkSync,
  readSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, isAbsolute, join, resolve } from 'node:path'
import { makeFolderSync } from '../../../../daemon/local/atomic-file.ts'
import { readText, smallFile } from '../../../../daemon/local/bounded-file.ts'
import { workAlone } from '../../../../daemon/local/file-lock.ts'
import { defaultDataFolder, defaultMemoryFolder } from '../../../../daemon/local/folders.ts'
import { openPlainSync, whyNotPlain } from '../../../../daemon/local/plain-files.ts'
import { isAlive } from '../../../../daemon/local/processes.ts'
import { localProfile } from '../../../../daemon/local/profiles.ts'
import { logFileName, type Running, runningFileName } from '../../../../daemon/local/ready-file.ts'
import { flagIn } from '../../../base/command-line.ts'
import { exitCodes, Failure } from '../../../base/failure.ts'
import { readIfThere } from '../../../base/files.ts'
import { readProfiles } from '../../../base/profile.ts'

export function dataFolder(given: string | undefined, chooseDefault = defaultDataFolder): string {
  const { env } = process
  return resolve(given ?? (env.NATTER_DATA || chooseDefault(env, homedir())))
}

/** The folder of a daemon to start. `release`: call it when the start has ended. */
interface FolderToStart {
  readonly folder: string
  release(): void
}

/** The folder of a daemon that is started with these flags. One in memory at another port gets the first folder without a daemon. */
export function folderToStart(args: readonly string[]): FolderToStart {
  const data = flagIn(args, 'data')
  const isInMemory = args.includes('--memory')
  const first = dataFolder(data, isInMemory ? defaultMemoryFolder : defaultDataFolder)
  const port = flagIn(args, 'port')
  if (!isInMemory || data !== undefined || process.env.NATTER_DATA || port === undefined)
    return { folder: first, release() {} }
  const isTaken = (folder: string) => readRunning(folder)?.url.endsWith(`:${port}`) === false
  for (let number = 1; ; number++) {
    const folder = number === 1 ? first : `${first}-${number}`
    const file = join(folder, 'starting')
    if (!claim(folder, file)) continue
    const release = () => rmSync(file, { force: true })
    // Looked at after the claim, because another start may have ended just before it.
    if (!isTaken(folder)) return { folder, release }
    release()
  }
}

/** Writes the file if no process that is alive has written it: of two starts at the same time, one gets the folder. */
function claim(folder: string, file: string): boolean {
  prepareFolder(folder)
  try {
    return workAlone(file, () => {
      // Nothing is in one that was cut off by a crash.
      const holder = Number(readIfThere(file))
      if (holder > 0 && isAlive(holder)) return false
      writeFileSync(file, String(process.pid), { mode: 0o600 })
      return true
    })
  } catch (error) {
    throw cannotUse(folder, error)
  }
}

export function prepareFolder(folder: string): void {
  try {
    makeFolderSync(folder)
  } catch (error) {
    throw cannotUse(folder, error)
  }
  const reason = whyNotPlain(folder)
  if (reason) throw new Failure(exitCodes.refused, `${folder} cannot hold the store: ${reason}`)
}

function cannotUse(folder: string, error: unknown): Failure {
  const { code } = error as NodeJS.ErrnoException
  return new Failure(exitCodes.refused, `cannot create the folder ${folder}: ${code}`, {
    hint: 'Give a folder that you can write to with --data.',
  })
}

/** Without --data: the folder of the daemon of the profile `local`, or else of one that runs in the usual folders. */
export function folderOfRunning(flags: Readonly<Record<string, unknown>>): string {
  const folders = [folderIn(flags), ...memoryFolders(flags)]
  if (isFolderGiven(flags)) return folders.find(readRunning) ?? folders[0]!
  const { site, folder } = localDaemon()
  if (folder !== undefined && readRunning(folder)) return folder
  const running = folders.filter(readRunning)
  return running.find(folder => readRunning(folder)?.url === site) ?? running[0] ?? folders[0]!
}

/** What the profile `local` says about its daemon. Nothing, if the file cannot be read: `natter doctor` says why. */
export function localDaemon(): { site?: string; folder?: string | undefined } {
  try {
    const { site, store, log_folder = store } = readProfiles(process.env).profiles[localProfile]!
    return { site, folder: log_folder }
  } catch {
    return {}
  }
}

export function isFolderGiven({ data }: Readonly<Record<string, unknown>>): boolean {
  return data !== undefined || Boolean(process.env.NATTER_DATA)
}

/** Where `folderToStart` puts daemons in memory. */
function memoryFolders(flags: Readonly<Record<string, unknown>>): string[] {
  const first = folderIn(flags, defaultMemoryFolder)
  const [parent, name] = [dirname(first), basename(first)]
  if (isFolderGiven(flags) || !existsSync(parent)) return [first]
  const isNext = (other: string) => other.startsWith(`${name}-`) && /^[0-9]+$/.test(other.slice(name.length + 1))
  return [
    first,
    ...readdirSync(parent)
      .filter(isNext)
      .map(other => join(parent, other)),
  ]
}

/** By --data. */
export function folderIn({ data }: Readonly<Record<string, unknown>>, chooseDefault = defaultDataFolder): string {
  return dataFolder(data as string | undefined, chooseDefault)
}

export function runningFile(folder: string): string {
  return join(folder, runningFileName)
}

export function logFile(folder: string): string {
  return join(folder, logFileName)
}

/** For the folder of `chooseFolder`. Without --data, and if no daemon runs: the log that was written last. */
export function findLog(folder: string, flags: Readonly<Record<string, unknown>>): string {
  if (readRunning(folder)) return logFile(folder)
  const logs = [folder, ...memoryFolders(flags)].map(logFile)
  const writtenAt = (file: string) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0
  return logs.reduce((newest, log) => (writtenAt(log) > writtenAt(newest) ? log : newest))
}

/** What `daemon.json` says, if the process it names is alive and a daemon that uses this folder. */
export function readRunning(folder: string): Running | undefined {
  try {
    const found = JSON.parse(readText(runningFile(folder), smallFile)) as Running
    const isRight = Number.isSafeInteger(found.pid) && found.pid > 0 && typeof found.url === 'string'
    return isRight && isAlive(found.pid) && isDaemon(found) && uses(found.pid, folder) ? found : undefined
  } catch {
    return undefined
  }
}

/** Whether the process is a daemon with these flags. IDs are used again, and a folder may come from another machine or person. */
function isDaemon({ pid, args = [] }: Running): boolean {
  const line = commandLine(pid)
  if (line === undefined) return true
  // Of other systems: ps may print letters beyond ASCII in another way.
  if (process.platform !== 'linux') return /natterd|daemon run|main\.ts/.test(line)
  // Any program can have the name of a file as its last argument.
  const program = readProgram(pid)
  if (program !== process.execPath && !/^(node|natter)/.test(basename(program))) return false
  const flags = args.map(flag => ` ${flag}`).join('')
  return (
    line.endsWith(flags) && /(natterd(\.cjs)?|daemon run|main\.ts)$/.test(line.slice(0, line.length - flags.length))
  )
}

/** Whether it has a file of the folder open: the lock of a store, or the log of a daemon in memory. `daemon.json` may be a copy. */
function uses(pid: number, folder: string): boolean {
  const files = openFiles(pid)
  if (files === undefined) return true
  const { dev, ino } = statSync(folder)
  return files.some(file => {
    // Not by path: links and mounts lead to the same folder.
    const found = statSync(dirname(file), { throwIfNoEntry: false })
    return found?.dev === dev && found.ino === ino
  })
}

/** Undefined where the system does not tell: on Windows, and of a process of another user. */
function openFiles(pid: number): string[] | undefined {
  try {
    const links = `/proc/${pid}/fd`
    const files =
      process.platform === 'linux'
        ? readdirSync(links).map(name => linkIn(links, name))
        : execFileSync('lsof', ['-nP', '-a', '-p', String(pid), '-d', '0-99999', '-Fn'], {
            encoding: 'utf8',
            stdio: ['ignore', 'pipe', 'ignore'],
          })
            .split('\n')
            .filter(line => line.startsWith('n'))
            .map(line => line.slice(1))
    // Others are sockets and pipes.
    return files.filter(isAbsolute)
  } catch {
    return undefined
  }
}

/** Empty for a file that was closed meanwhile. */
function linkIn(folder: string, name: string): string {
  try {
    return readlinkSync(join(folder, name))
  } catch {
    return ''
  }
}

/** That of another user is not told; such a process cannot be ended either, except by root, who is told. */
function readProgram(pid: number): string {
  try {
    return readlinkSync(`/proc/${pid}/exe`)
  } catch {
    return 'node'
  }
}

/** Undefined where the system does not tell, as on Windows. */
function commandLine(pid: number): string | undefined {
  try {
    if (process.platform === 'linux')
      return readText(`/proc/${pid}/cmdline`, smallFile).replace(/\0$/, '').replaceAll('\0', ' ')
    return execFileSync('ps', ['-ww', '-o', 'args=', '-p', String(pid)], { encoding: 'utf8' })
  } catch {
    return undefined
  }
}

/** Bytes of a log that are read at once. */
const longestPart = 16 * 1024 * 1024

/** What a log has from this byte on, only the end if that is much, and its size. */
export function readFrom(file: string, start: number): { text: string; size: number } {
  const handle = openPlainSync(file)
  try {
    const { size } = fstatSync(handle)
    const from = Math.max(start, size - longestPart)
    const bytes = Buffer.alloc(Math.max(0, size - from))
    const read = readSync(handle, bytes, 0, bytes.length, from)
    return { text: bytes.toString('utf8', 0, read), size }
  } finally {
    closeSync(handle)
  }
}

export function lastLines(text: string, count: number): string[] {
  const lines = text.replace(/\n$/, '').split('\n')
  return text === '' || count === 0 ? [] : lines.slice(-count)
}
