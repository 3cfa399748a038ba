// Files of a daemon in the background: `daemon.json` and `daemon.log` in the folder of its store.

import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { defaultDataFolder } from '../../../../daemon/local/folders.ts'
import { logFileName, type Running, runningFileName } from '../../../../daemon/local/ready-file.ts'

export function dataFolder(given: string | undefined): string {
  const { env } = process
  if (given !== undefined || env.NATTER_DATA) return resolve(given ?? env.NATTER_DATA!)
  return resolve(defaultDataFolder(env, homedir()))
}

/** By --data. */
export function folderIn({ data }: Readonly<Record<string, unknown>>): string {
  return dataFolder(data as string | undefined)
}

export function runningFile(folder: string): string {
  return join(folder, runningFileName)
}

export function logFile(folder: string): string {
  return join(folder, logFileName)
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
