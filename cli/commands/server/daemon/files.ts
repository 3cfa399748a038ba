// Files of a daemon in the background: `daemon.json` and `daemon.log` in the folder of its store.

import { readFileSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { defaultDataFolder, defaultMemoryFolder } from '../../../../daemon/local/folders.ts'
import { localProfile } from '../../../../daemon/local/profiles.ts'
import { logFileName, type Running, runningFileName } from '../../../../daemon/local/ready-file.ts'
import { flagIn } from '../../../base/command-line.ts'
import { readProfiles } from '../../../base/profile.ts'

export function dataFolder(given: string | undefined, chooseDefault = defaultDataFolder): string {
  const { env } = process
  return resolve(given ?? (env.NATTER_DATA || chooseDefault(env, homedir())))
}

/** The folder of a daemon that is started with these flags. */
export function folderToStart(args: readonly string[]): string {
  return dataFolder(flagIn(args, 'data'), args.includes('--memory') ? defaultMemoryFolder : defaultDataFolder)
}

/** Without --data: the folder of the running daemon, which is that of the profile `local` if there are two. */
export function folderOfRunning(flags: Readonly<Record<string, unknown>>): string {
  const folders = [folderIn(flags), folderIn(flags, defaultMemoryFolder)]
  const running = folders.filter(readRunning)
  if (running.length < 2) return running[0] ?? folders[0]!
  const site = readProfiles(process.env).profiles[localProfile]?.site
  return running.find(folder => readRunning(folder)?.url === site) ?? folders[0]!
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

/** Without --data, and if no daemon runs: the log that was written last. */
export function findLog(flags: Readonly<Record<string, unknown>>): string {
  const folder = folderOfRunning(flags)
  const logs = [logFile(folder), logFile(folderIn(flags, defaultMemoryFolder))]
  const writtenAt = (file: string) => statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0
  return readRunning(folder) || writtenAt(logs[0]!) >= writtenAt(logs[1]!) ? logs[0]! : logs[1]!
}

/** What `daemon.json` says, if the process it names is alive. */
export function readRunning(folder: string): Running | undefined {
  try {
    const found = JSON.parse(readFileSync(runningFile(folder), 'utf8')) as Running
    const isRight = Number.isSafeInteger(found.pid) && found.pid > 0 && typeof found.url === 'string'
    return isRight && isAlive(found.pid) ? found : undefined
  } catch {
    return undefined
  }
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

export function lastLines(text: string, count: number): string[] {
  const lines = text.replace(/\n$/, '').split('\n')
  return text === '' || count === 0 ? [] : lines.slice(-count)
}
