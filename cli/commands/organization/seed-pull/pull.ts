// Reads a server call by call, keeps what was read beside the file until it is complete, and writes the seed.

import { randomBytes } from 'node:crypto'
import { existsSync, rmSync } from 'node:fs'
import { abandonedMs, removeUnfinished, writeFileAtomicallySync } from '../../../../daemon/local/atomic-file.ts'
import { largeFile, readText, smallFile } from '../../../../daemon/local/bounded-file.ts'
import { jsonOr } from '../../../../daemon/local/json.ts'
import { monotonicMs } from '../../../../daemon/local/monotonic.ts'
import { addHint, exitCodes, Failure, usage } from '../../../base/failure.ts'
import { readIfThere, refuseExisting } from '../../../base/files.ts'
import { readCount } from '../../../base/flag-values.ts'
import type { Globals } from '../../../base/globals.ts'
import { note } from '../../../base/note.ts'
import { type Account, accountFor, demandKey } from '../../../base/profile.ts'
import type { Reply } from '../../../base/reply.ts'
import type { Invocation } from '../../../base/subcommand.ts'
import { printJson } from '../../../print/output.ts'
import { call, requireSite } from '../../../transport/client.ts'
import { Kept, nextAnchor } from '../../../transport/pages.ts'
import { buildSeed } from './build-seed.ts'
import { settingsIn } from './settings.ts'
import { type Read, type ReadMessage, wrongIn, wrongInAny } from './shapes.ts'

/** Of one channel. */
const mostMessages = 100_000
const defaultMessages = 1000
/** Messages of one call; servers refuse more than 5000. */
const pageSize = 1000
/** How often a call waits because the server asks it to. */
const retries = 100

export async function pullSeed({ args, flags, globals }: Invocation): Promise<void> {
  const file = args[0]!
  if (file === '-')
    throw usage('file: give the name of a file, not -; what was read is kept beside it until the pull is complete')
  const channels = [flags.channel ?? []].flat() as string[]
  const count = readCount('messages', flags.messages ?? defaultMessages, mostMessages)
  if (!globals.yes && !flags.force) refuseExisting(file)
  const salt = flags['keep-names'] === true ? undefined : saltIn(flags['salt-file'] as string | undefined)
  const account = accountFor(globals, process.env)
  demandKey(account)
  const pull = new Pull(account, globals, file)
  try {
    const read = await pull.read(channels, count)
    const seed = buildSeed(read, { salt, now: Date.now() / 1000 })
    writeFileAtomicallySync(file, `${JSON.stringify(seed, null, 2)}\n`)
    pull.forget()
    const figures = { users: seed.users.length, bots: seed.bots.length, groups: seed.groups.length }
    const all = { ...figures, channels: seed.channels.length, messages: seed.messages.length }
    if (globals.json) printJson({ file, ...all })
    else
      note(
        `wrote ${file}: ${Object.entries(all)
          .map(([name, number]) => `${number} ${name}`)
          .join(', ')}`,
      )
  } catch (error) {
    if (!(error instanceof Failure && pull.keepRest())) throw error
    const resume = 'What was read so far is kept; run the same command again to go on.'
    throw addHint(error, error.hint === undefined ? resume : `${error.hint}\n  ${resume}`)
  }
}

/** Characters. */
const shortestSalt = 16

/** Read from the file, which is created if needed; without a file, a new one for each run. */
export function saltIn(file: string | undefined): Uint8Array {
  const salt = randomBytes(32)
  if (file === undefined) return salt
  try {
    if (!existsSync(file)) writeFileAtomicallySync(file, `${salt.toString('hex')}\n`)
    const text = readText(file, smallFile).trim()
    if (text.length >= shortestSalt) return Buffer.from(text)
  } catch (error) {
    throw usage(`--salt-file: cannot use ${file}: ${(error as NodeJS.ErrnoException).code}`)
  }
  throw usage(`--salt-file: ${file} must have at least ${shortestSalt} characters`)
}

/** The account, and what was read so far. */
type Begun = { readonly site: string; readonly email: string | undefined } & { -readonly [K in keyof Read]?: Read[K] }

type Found = Read['messages'][number]

class Pull {
  readonly #account: Account
  readonly #timeout: number | undefined
  readonly #partial: string
  #read: Begun
  /** Whether something was read since the file was written, and when it is written again. */
  #unkept = false
  readonly #kept = new Kept()
  #nextWrite = 0

  constructor(account: Account, { timeout }: Globals, file: string) {
    this.#account = account
    this.#timeout = timeout
    this.#partial = `${file}.partial`
    for (const path of [file, this.#partial]) removeUnfinished(path, abandonedMs)
    this.#read = this.#resume() ?? { site: requireSite(account), email: account.email }
  }

  /** To be called after a failure. Returns whether anything is kept. */
  keepRest(): boolean {
    if (this.#unkept) this.#write()
    return existsSync(this.#partial)
  }

  async read(wanted: readonly string[], count: number): Promise<Read> {
    const read = this.#read
    read.organization ??= await this.#step('the organization', async () =>
      organizationIn(await this.#get('/server_settings')),
    )
    read.settings ??= await this.#step('settings', () => this.#settings())
    read.people ??= await this.#list('people', '/users', 'members')
    read.groups ??= await this.#list('groups', '/user_groups', 'user_groups')
    read.channels ??= await this.#list('channels', '/streams', 'streams')
    read.subscribers ??= {}
    for (const { stream_id, name } of read.channels)
      if (!read.subscribers[stream_id]) {
        const { subscribers } = await this.#get(`/streams/${stream_id}/members`).catch(
          // A channel that the account may list, but not look into.
          replaceRefused({ subscribers: [] }),
        )
        const found = checkPart('subscribers', { [stream_id]: subscribers })
        this.#kept.add(found)
        Object.assign(read.subscribers, found)
        this.#keep(`who is in #${name}`)
      }
    read.messages ??= {}
    for (const name of wanted) await this.#messages(read as Read, name, count)
    return read as Read
  }

  forget(): void {
    rmSync(this.#partial, { force: true })
  }

  /** Every server of the family shows them when a queue is registered, and nowhere else. */
  async #settings(): Promise<Read['settings']> {
    const realm = JSON.stringify(['realm'])
    const registered = await this.#ask('POST', '/register', { event_types: realm, fetch_event_types: realm }).catch(
      replaceRefused({}),
    )
    const { queue_id } = registered
    if (typeof queue_id === 'string') await this.#ask('DELETE', '/events', { queue_id }).catch(replaceRefused({}))
    return settingsIn(registered)
  }

  async #messages(read: Read, name: string, count: number): Promise<void> {
    const channel = read.channels.find(each => each.name.toLowerCase() === name.toLowerCase())
    if (!channel) throw new Failure(exitCodes.notFound, `there is no channel ${name} that this account can see`)
    read.messages[channel.stream_id] ??= { list: [], complete: false }
    const kept = read.messages[channel.stream_id]!
    while (!kept.complete && kept.list.length < count) {
      const oldest = kept.list[0]?.id
      const page = await this.#get('/messages', {
        narrow: JSON.stringify([{ operator: 'channel', operand: channel.stream_id }]),
        anchor: oldest === undefined ? 'newest' : String(oldest),
        num_before: String(Math.min(pageSize, count - kept.list.length)),
        num_after: '0',
        include_anchor: String(oldest === undefined),
        apply_markdown: 'false',
      })
      const { found } = checkPart('messages', { found: { list: page.messages, complete: false } }) as Record<
        string,
        Found
      >
      const older = found!.list.map(slim)
      const complete = older.length === 0 || page.found_oldest === true
      if (!complete) nextAnchor(older, oldest, true)
      this.#kept.add(older)
      kept.list.unshift(...older)
      kept.complete = complete
      this.#keep(`${kept.list.length} messages of #${channel.name}`)
    }
  }

  #list<Part extends keyof Read>(part: Part, path: string, field: string): Promise<Read[Part]> {
    return this.#step(part, async () => checkPart(part, (await this.#get(path))[field]))
  }

  async #step<T>(what: string, work: () => Promise<T>): Promise<T> {
    const found = await work()
    note(`read ${what}`)
    return found
  }

  /** Only its owner can read it: it has the real names. */
  #keep(what: string): void {
    this.#unkept = true
    // The file is written as a whole: with every part, an organization of many channels would take the square of the time.
    if (monotonicMs() >= this.#nextWrite) this.#write()
    note(`read ${what}`)
  }

  #write(): void {
    const began = monotonicMs()
    writeFileAtomicallySync(this.#partial, JSON.stringify(this.#read), { durable: false })
    this.#unkept = false
    this.#nextWrite = monotonicMs() + 10 * (monotonicMs() - began)
  }

  #resume(): Begun | undefined {
    const text = readIfThere(this.#partial, this.#partial, ['ENOENT'], largeFile)
    if (text === undefined) return undefined
    const found: Begun = Object(jsonOr(text))
    if (typeof found.site !== 'string')
      throw usage(`${this.#partial} exists, and natter did not write it`, 'Choose another name for the seed.')
    const isSame = found.site === requireSite(this.#account) && found.email === this.#account.email
    const wrong = isSame ? wrongInAny(found) : undefined
    if (wrong !== undefined) return void note(`${this.#partial} cannot be used: ${wrong} is missing or of another kind`)
    if (isSame) note(`going on where an earlier pull stopped: ${this.#partial}`)
    return isSame ? found : undefined
  }

  #get(path: string, params: Readonly<Record<string, string>> = {}): Promise<Reply> {
    return this.#ask('GET', path, params)
  }

  #ask(method: string, path: string, params: Readonly<Record<string, string>>): Promise<Reply> {
    const request = { method, path: `/api/v1${path}`, fields: new Map(Object.entries(params)) }
    return call(this.#account, request, { timeout: this.#timeout, retry: retries })
  }
}

function organizationIn(settings: Reply): Read['organization'] {
  const named = (name: string) => {
    const value = settings[`realm_${name}`] ?? settings[name]
    return typeof value === 'string' && value !== '' ? value : null
  }
  return { name: named('name'), description: named('description') }
}

/** Other servers may answer with something else. */
function checkPart<Part extends keyof Read>(part: Part, value: unknown): Read[Part] {
  const wrong = wrongIn(part, value)
  if (wrong === undefined) return value as Read[Part]
  throw new Failure(exitCodes.refused, `the server's answer cannot be read: ${wrong} is missing or of another kind`, {
    code: 'BAD_ANSWER',
  })
}

/** What an account may not see, or what a server does not have. Only a chat server says so: the page of a proxy is of no kind. */
const lasting: readonly unknown[] = ['invalid', 'forbidden', 'not-found']

/** A reply in the place of a refusal: what an account may not see is left out. */
function replaceRefused(reply: Reply): (error: unknown) => Reply {
  return error => {
    if (error instanceof Failure && lasting.includes(error.kind)) return reply
    throw error
  }
}

function slim({ id, sender_id, subject, content, timestamp, reactions }: ReadMessage): ReadMessage {
  const kept = reactions.map(({ user_id = null, emoji_name }) => ({ user_id, emoji_name }))
  return { id, sender_id, subject, content, timestamp, reactions: kept }
}
