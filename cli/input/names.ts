// Names in place of IDs: users by email, full name, or the part of either that people remember; everything else by its
// name. `id:5` is always an ID. Asks the server once per kind.

import { nearest, suggestion } from '../../daemon/local/did-you-mean.ts'
import { exitCodes, Failure, usage } from '../base/failure.ts'
import type { Account } from '../base/profile.ts'
import type { Reply } from '../base/reply.ts'
import { type CallOptions, call } from '../transport/client.ts'

export type Kind = 'user' | 'channel' | 'group' | 'folder' | 'snippet' | 'profile-field'

export interface Names {
  /** Digits are a name first, and an ID if nothing has this name; of users, whose names are rarely numbers, an ID. */
  find(kind: Kind, name: string): Promise<number>
  /** The name of the channel with an ID, which is given as `id:5`. `5` can also be a name, of a channel that exists or of a new one. */
  channelName(id: string): Promise<string>
}

interface Named {
  readonly id: number
  /** Its names; the first is shown in suggestions. */
  readonly names: readonly string[]
  /** Deactivated accounts are found by their whole name or address only. */
  readonly active: boolean
}

/** Where things with names are listed; the last name is what people call them. */
export const directories = {
  user: { path: '/api/v1/users', field: 'members', id: 'user_id', names: ['email', 'delivery_email', 'full_name'] },
  channel: { path: '/api/v1/streams', field: 'streams', id: 'stream_id', names: ['name'] },
  group: { path: '/api/v1/user_groups', field: 'user_groups', id: 'id', names: ['name'] },
  folder: {
    path: '/api/v1/channel_folders?include_archived=true',
    field: 'channel_folders',
    id: 'id',
    names: ['name'],
  },
  snippet: { path: '/api/v1/saved_snippets', field: 'saved_snippets', id: 'id', names: ['title'] },
  'profile-field': { path: '/api/v1/realm/profile_fields', field: 'custom_fields', id: 'id', names: ['name'] },
} as const satisfies Record<Kind, { path: string; field: string; id: string; names: readonly string[] }>

const withArchived = '?exclude_archived=false'

export function createNames(account: Account, options: CallOptions): Names {
  const fetched = new Map<Kind, Promise<Named[]>>()
  const get = (path: string) => call(account, { method: 'GET', path, fields: new Map() }, options)
  return {
    async find(kind, name) {
      const id = certainId(kind, name)
      if (id !== undefined) return id
      const wanted = bare(kind, name).toLowerCase()
      // Your own account is found even if you cannot list users.
      if (kind === 'user' && (wanted === 'me' || wanted === account.email?.toLowerCase()))
        return idIn(await get('/api/v1/users/me'), 'user_id')
      if (!fetched.has(kind)) fetched.set(kind, directory(kind, name, get))
      const digits = /^\d+$/.test(name)
      const list = await fetched.get(kind)!.catch(error => {
        // If names cannot be looked up, digits can only be an ID. The call itself reports what is wrong. An error that passes is no
        // reason: the channel with the ID 7 would get what is for the one that is called 7.
        const passes = (http: number | null) => http === 429 || Number(http) >= 500
        if (digits && error instanceof Failure && error.exit !== exitCodes.unmet && !passes(error.http)) return []
        throw error
      })
      if (digits) return nameOrId(kind, name, list)
      const found = pick(kind, name, wanted, list) ?? findNumbered(kind, wanted, list)
      if (found !== undefined) return found
      // An archived channel no longer owns its name, but can still be addressed by it, to show or unarchive it.
      const archived = kind === 'channel' ? await directory(kind, name, get, withArchived).catch(() => []) : []
      const old = pick(kind, name, wanted, archived)
      if (old !== undefined) return old
      throw unknown(kind, name, wanted, list)
    },
    async channelName(id) {
      if (!fetched.has('channel')) fetched.set('channel', directory('channel', id, get))
      const sure = certainId('channel', id)
      const name = bare('channel', id)
      // If channels cannot be listed, digits can only be a name.
      const list = await fetched.get('channel')!.catch(error => (sure === undefined ? [] : Promise.reject(error)))
      const named = sure === undefined ? list.find(({ names }) => names.includes(name)) : undefined
      const found = named ?? list.find(channel => channel.id === (sure ?? Number(name)))
      if (found) return found.names[0]!
      if (sure === undefined) return name
      throw unknown('channel', id, id, [])
    },
  }
}

/** What people call users or channels, by ID. */
export async function namesById(
  kind: 'user' | 'channel',
  account: Account,
  options: CallOptions,
): Promise<ReadonlyMap<number, string>> {
  const { path, field, id, names } = directories[kind]
  const list = (await call(account, { method: 'GET', path, fields: new Map() }, options))[field]
  const rows = Array.isArray(list) ? (list as Reply[]) : []
  return new Map(rows.map(row => [Number(row[id]), String(row[names.at(-1)!])]))
}

async function directory(
  kind: Kind,
  name: string,
  get: (path: string) => Promise<Reply>,
  query = '',
): Promise<Named[]> {
  const { path, field, id, names } = directories[kind]
  try {
    const list = (await get(`${path}${query}`))[field]
    if (!Array.isArray(list)) return []
    return list.map((item: Reply) => ({
      id: idIn(item, id),
      names: names.map(key => item[key]).filter(value => typeof value === 'string' && value !== ''),
      active: item.is_active !== false,
    })) as Named[]
  } catch (error) {
    if (!(error instanceof Failure) || (error.http !== 404 && error.http !== 405)) throw error
    throw new Failure(exitCodes.notFound, `cannot look up the ${kind} "${name}": this server has no GET ${path}`, {
      hint: `Give the ID instead: id:123`,
    })
  }
}

/** An ID if it can be nothing else. */
function certainId(kind: Kind, name: string): number | undefined {
  const [, marked, digits] = /^#?(id:)?(\d+)$/.exec(name) ?? []
  if (digits === undefined || (!marked && (name.startsWith('#') || kind !== 'user'))) return undefined
  return Number(digits)
}

/** A name wins if nothing else has this ID. */
function nameOrId(kind: Kind, digits: string, list: readonly Named[]): number {
  const named = list.filter(item => item.names.includes(digits))
  const numbered = list.filter(item => item.id === Number(digits) && !named.includes(item))
  if (named.length > 0 && numbered.length > 0)
    throw usage(
      `"${digits}" is the name of one ${kind} and the ID of another`,
      `Use one of: ${shown([...named, ...numbered])}`,
    )
  if (named.length > 1) throw ambiguous(kind, digits, named)
  return named[0]?.id ?? Number(digits)
}

function pick(kind: Kind, name: string, wanted: string, list: readonly Named[]): number | undefined {
  // An exact match wins over one that differs only in case, and both over a part of a name.
  const alike = list.filter(item => item.names.some(other => other.toLowerCase() === wanted))
  const exact = alike.filter(item => item.names.includes(bare(kind, name)))
  const found = exact.length > 0 ? exact : alike.length > 0 || kind !== 'user' ? alike : findByFirstWord(wanted, list)
  if (found.length > 1) throw ambiguous(kind, name, found)
  return found[0]?.id
}

/** `#5` is the channel of this name, or else the one with this ID. */
function findNumbered(kind: Kind, wanted: string, list: readonly Named[]): number | undefined {
  return kind === 'channel' ? list.find(({ id }) => String(id) === wanted)?.id : undefined
}

/** Users by the first word of their name, or by the part before the @ of their address. */
function findByFirstWord(wanted: string, list: readonly Named[]): Named[] {
  return list.filter(
    item => item.active && item.names.some(name => name.split(/[@\s]/, 1)[0]!.toLowerCase() === wanted),
  )
}

function ambiguous(kind: Kind, name: string, found: readonly Named[]): Failure {
  return usage(`${found.length} ${kind}s match "${name}"`, `Use one of: ${shown(found)}`)
}

/** The first few: the list of candidates is for a person to read. */
function shown(found: readonly Named[]): string {
  const few = found.slice(0, 10).map(({ id, names }) => `id:${id} (${[...new Set(names)].join(', ')})`)
  return `${few.join('; ')}${found.length > few.length ? ` and ${found.length - few.length} more` : ''}`
}

function unknown(kind: Kind, name: string, wanted: string, list: readonly Named[]): Failure {
  // People remember first names, or the part of an address before the @. The part after it is shared by many.
  const [word, domain] = kind === 'user' ? (wanted.split('@') as [string, string?]) : [wanted]
  const forms = new Map<string, { readonly item: Named; readonly shown: string }>()
  for (const item of list)
    for (const other of item.names) {
      const called = domain === undefined || !other.endsWith(`@${domain}`) ? other : other.slice(0, -domain.length - 1)
      for (const form of [called, kind === 'user' ? called.split(/[@\s]/, 1)[0]! : called])
        if (!forms.has(form)) forms.set(form, { item, shown: form === called ? other : item.names[0]! })
    }
  const near = new Map<Named, string>()
  for (const form of nearest(word, forms.keys(), forms.size)) {
    const { item, shown } = forms.get(form)!
    if (!near.has(item)) near.set(item, shown)
  }
  return new Failure(exitCodes.notFound, `there is no ${kind} "${bare(kind, name)}"`, {
    hint:
      (kind === 'user' && name.includes('>') ? `A channel begins with #: '#${name}'` : undefined) ??
      suggestion([...near.values()].slice(0, 3)) ??
      `Run \`natter ${kind}s list\` to see all of them.`,
  })
}

function bare(kind: Kind, name: string): string {
  if (kind === 'channel') return name.replace(/^#/, '')
  return kind === 'group' ? name.replace(/^@/, '') : name
}

function idIn(item: Reply, field: string): number {
  const id = item[field]
  if (typeof id === 'number') return id
  throw new Failure(exitCodes.refused, `the server's response has no ${field}`, { code: 'BAD_ANSWER' })
}
