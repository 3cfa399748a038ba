// Announces that the daemon is ready: ready file, banner or JSON line, `daemon.json`, the CLI's profile.

import { existsSync, rmSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { versionAt } from '../api/levels/releases.ts'
import { makeFolderSync, prepareFile, writeFileAtomicallySync } from '../local/atomic-file.ts'
import { readText, smallFile } from '../local/bounded-file.ts'
import { workAlone } from '../local/file-lock.ts'
import { configFolder } from '../local/folders.ts'
import { harmless } from '../local/harmless.ts'
import { isAlive } from '../local/processes.ts'
import {
  localProfile,
  nameBeside,
  type Profiles,
  profileFrom,
  profilesFileName,
  profilesText,
  readProfilesText,
  withProfile,
} from '../local/profiles.ts'
import { isReady, type Ready, type Running, runningFileName } from '../local/ready-file.ts'
import { shellWord } from '../local/shell-word.ts'

/** Where the command line finds the key of the daemon's owner: by its current profile, by another one, or in a file. */
export type KeyPlace = 'current' | { readonly profile: string } | { readonly file: string } | 'none'

/** For a terminal. */
export function banner(ready: Ready, store: string, place: KeyPlace): string {
  const { url, owner } = ready
  return harmless(`natter is ready
  URL      ${url}
  Look at  ${ready.inspector}
  Level    ${levelText(ready)}
  Owner    ${owner.email}
  API key  ${owner.api_key}
  Store    ${store}

Try, in another terminal:
${addToPath()}${place === 'none' ? `  export ${variables(ready).join(' ')}\n` : ''}${steps(owner.email, place)}
Or without natter:
  curl -sS -u ${shellWord(`${owner.email}:${owner.api_key}`)} ${shellWord(`${url}/api/v1/users/me`)}
`)
}

/** For logs, which other users can read: names the file that has the key instead of the key. */
export function bannerWithoutKey(ready: Ready, store: string, place: KeyPlace, file: string | undefined): string {
  const { url, owner } = ready
  return harmless(`natter is ready
  URL      ${url}
  Level    ${levelText(ready)}
  Owner    ${owner.email}
  API key  ${file ?? 'not shown: stderr is no terminal; give --ready-file FILE'}
  Store    ${store}
${place === 'none' ? '' : `\nTry:\n${steps(owner.email, place)}`}`)
}

function levelText({ level }: Ready): string {
  return `${level} (${versionAt(level)})`
}

function steps(owner: string, place: KeyPlace): string {
  const flag =
    typeof place !== 'object' ? [] : 'file' in place ? ['--ready-file', place.file] : ['--profile', place.profile]
  const natter = ['natter', ...flag].map(shellWord).join(' ')
  return `  ${natter} send --to ${shellWord(owner)} 'Hello!'\n  ${natter} tail\n`
}

/** A clone has `natter` beside this program, and not on the PATH. */
function addToPath(): string {
  const folder = dirname(process.argv[1] ?? '')
  const folders = (process.env.PATH ?? '').split(delimiter)
  const isThere = (folder: string) => existsSync(join(folder, 'natter'))
  if (process.platform === 'win32' || folders.some(isThere) || !isThere(folder)) return ''
  return `  export PATH=${shellWord(folder)}:"$PATH"\n`
}

/** Environment variables for the command line, if no profile leads to the daemon. */
function variables({ url, owner, control_token }: Ready): string[] {
  return [
    `NATTER_SITE=${shellWord(url)}`,
    `NATTER_EMAIL=${shellWord(owner.email)}`,
    `NATTER_API_KEY=${shellWord(owner.api_key)}`,
    ...(control_token ? [`NATTER_CONTROL_TOKEN=${shellWord(control_token)}`] : []),
  ]
}

/** Tells other programs on this machine that a daemon uses this store. */
export function writeRunning(folder: string, running: Running): void {
  writeAnnouncement(join(folder, runningFileName), running)
}

export function writeReady(path: string, ready: Ready): void {
  writeAnnouncement(path, ready)
}

/** Describes this process only, so it need not survive a power cut. */
function writeAnnouncement(path: string, content: Ready | Running): void {
  writeFileAtomicallySync(path, `${JSON.stringify(content)}\n`, { durable: false })
}

/** The file of the profiles. */
export function profilesFile(env: NodeJS.ProcessEnv): string {
  return join(configFolder(env, homedir()), profilesFileName)
}

/** Writes the profile `local`, so that the next `natter` call needs no set-up. Leaves it alone while it leads to another running daemon. */
export async function writeProfile(ready: Ready, env: NodeJS.ProcessEnv, store?: string): Promise<KeyPlace> {
  const file = profilesFile(env)
  const site = readProfiles(file).profiles[localProfile]?.site
  const isTaken = await answersElsewhere(site, ready.url)
  const name = isTaken ? nameBeside(ready.url) : localProfile
  makeFolderSync(dirname(file))
  const current = workAlone(file, () => {
    const book = readProfiles(file)
    if (book.profiles[localProfile]?.site !== site) return undefined
    const changed = withProfile(book, name, profileFrom(ready, store))
    writeFileAtomicallySync(file, profilesText(changed))
    return changed.current
  })
  // Another daemon took the profile meanwhile.
  if (current === undefined) return writeProfile(ready, env, store)
  return current === name ? 'current' : { profile: name }
}

/** Whether a daemon answers at this address of the machine, and it is not this one. */
async function answersElsewhere(site: string | undefined, own: string): Promise<boolean> {
  if (site === undefined || site === own || !/^http:\/\/(127\.|localhost|\[::1\])/.test(site)) return false
  try {
    // Another program may have the port by now: it chooses no other address, and only the start of what it says is read.
    const answer = await fetch(`${site}/livez`, { redirect: 'manual', signal: AbortSignal.timeout(probeTimeout) })
    let text = ''
    for await (const chunk of answer.body ?? []) {
      text += Buffer.from(chunk).toString('latin1')
      if (text.length > longestProbe) return false
    }
    return answer.ok && (JSON.parse(text) as { ok?: unknown }).ok === true
  } catch (error) {
    // Where nothing listens, the connection is refused immediately: what takes long is a busy daemon.
    return (error as Error).name === 'TimeoutError'
  }
}

/** Milliseconds. */
const probeTimeout = 1000
/** Bytes. */
const longestProbe = 1024

function readProfiles(file: string): Profiles {
  const text = readIfThere(file)
  const found = text === undefined ? { profiles: {} } : readProfilesText(text)
  if (!found) throw new Error(`${file} is not a profiles file`)
  return found
}

/**
 * Throws early if the ready file cannot be written later, or would replace a file that no daemon wrote. Deletes one that a
 * daemon left behind when it was killed, so that it is not taken for that of this daemon.
 */
export async function prepareReadyFile(path: string): Promise<void> {
  prepareFile(path, 'the ready file')
  if (!existsSync(path)) return
  // One that is empty was made for this, by `mktemp` for example.
  const left = statSync(path).size === 0 ? undefined : readReady(path)
  if (!left || !isAlive(left.pid)) rmSync(path)
}

function readReady(path: string): Ready {
  try {
    const found: unknown = JSON.parse(readText(path, smallFile))
    if (isReady(found) && Number.isSafeInteger(found.pid)) return found
  } catch {
    // It cannot be read, or is no JSON.
  }
  throw new Error(`${path} exists and is no ready file, so it is not replaced; name another file, or delete it`)
}

/** Throws for one that exists and cannot be read: it must not be replaced. */
function readIfThere(path: string): string | undefined {
  try {
    return readText(path, smallFile)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
