// Tells the world that the daemon answers: ready file, banner or JSON line, `daemon.json`, the CLI's profile.

import { mkdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { writeFileAtomicallySync } from './journal/atomic-file.ts'
import { makeFolder } from './journal/store-folder.ts'

export interface Ready {
  readonly url: string
  readonly pid: number
  readonly owner: { readonly user_id: number; readonly email: string; readonly api_key: string }
  /** Opens the control plane, where there is one. */
  readonly control_token?: string
}

export function banner({ url, owner }: Ready, store: string): string {
  const call = `${url}/api/v1`
  const login = `-u ${owner.email}:${owner.api_key}`
  return `natter is ready
  URL      ${url}
  Owner    ${owner.email}
  API key  ${owner.api_key}
  Store    ${store}

Try, in another terminal:
  natter send --to ${owner.email} 'Hello!'
  natter tail

Or without natter:
  curl -sS ${login} ${call}/users/me
`
}

/** The profile `local`: the next `natter` call works with no further set-up. */
export function writeProfile({ url, owner, control_token }: Ready, env: NodeJS.ProcessEnv): void {
  const folder = env.NATTER_CONFIG_DIR || join(env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'natter')
  const file = join(folder, 'profiles.json')
  const known = readProfiles(file)
  const profiles = {
    ...known.profiles,
    local: { site: url, email: owner.email, api_key: owner.api_key, ...(control_token && { control_token }) },
  }
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  writeFileAtomicallySync(
    file,
    `${JSON.stringify({ ...known, current: known.current ?? 'local', profiles }, null, 2)}\n`,
  )
}

function readProfiles(file: string): { current?: string; profiles?: Record<string, unknown> } {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {}
    throw new Error(`${file} cannot be read: ${(error as Error).message}`)
  }
}

/**
 * Fails early when the ready file could not be written later, long before anyone waits for it. Takes away one that a
 * daemon left behind when it was killed: nobody may take it for an answer of this one.
 */
export async function prepareReadyFile(path: string): Promise<void> {
  try {
    await makeFolder(dirname(path))
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) throw new Error('it is a folder')
    writeFileAtomicallySync(`${path}.probe`, '', { durable: false })
    rmSync(`${path}.probe`)
    if (isStale(path)) rmSync(path)
  } catch (error) {
    throw new Error(`the ready file ${path} cannot be written: ${(error as Error).message}`)
  }
}

function isStale(path: string): boolean {
  const left = readOr(path)
  if (left === undefined) return false
  try {
    process.kill((JSON.parse(left) as Ready).pid, 0)
    return false
  } catch (error) {
    // No such process, or not a ready file at all. One that may not be signalled is alive.
    return (error as NodeJS.ErrnoException).code !== 'EPERM'
  }
}

function readOr(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
