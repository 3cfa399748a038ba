// Names in place of IDs: people by email or full name, channels and groups by name. Asks the server, once per kind.

import { call, type Patience, type Reply } from './client.ts'
import { didYouMean } from './did-you-mean.ts'
import { exitCodes, Failure, usage } from './failure.ts'
import type { Account } from './profile.ts'

export type Kind = 'user' | 'channel' | 'group'

export interface Names {
  find(kind: Kind, name: string): Promise<number>
}

interface Named {
  readonly id: number
  /** What it may be called by; the first is shown in suggestions. */
  readonly names: readonly string[]
}

const directories = {
  user: { path: '/api/v1/users', field: 'members', id: 'user_id', names: ['email', 'delivery_email', 'full_name'] },
  channel: { path: '/api/v1/streams', field: 'streams', id: 'stream_id', names: ['name'] },
  group: { path: '/api/v1/user_groups', field: 'user_groups', id: 'id', names: ['name'] },
} as const satisfies Record<Kind, { path: string; field: string; id: string; names: readonly string[] }>

export function namesOf(account: Account, patience: Patience): Names {
  const fetched = new Map<Kind, Promise<Named[]>>()
  const get = (path: string) => call(account, { method: 'GET', path, fields: new Map() }, patience)
  return {
    async find(kind, name) {
      const wanted = bare(kind, name).toLowerCase()
      // One's own account is found even where the directory of users is closed.
      if (kind === 'user' && (wanted === 'me' || wanted === account.email?.toLowerCase()))
        return idIn(await get('/api/v1/users/me'), 'user_id')
      if (!fetched.has(kind)) fetched.set(kind, directory(kind, name, get))
      return pick(kind, name, wanted, await fetched.get(kind)!)
    },
  }
}

async function directory(kind: Kind, name: string, get: (path: string) => Promise<Reply>): Promise<Named[]> {
  const { path, field, id, names } = directories[kind]
  try {
    const list = (await get(path))[field]
    if (!Array.isArray(list)) return []
    return list.map((item: Reply) => ({
      id: idIn(item, id),
      names: names.map(key => item[key]).filter(value => typeof value === 'string' && value !== ''),
    })) as Named[]
  } catch (error) {
    if (!(error instanceof Failure) || (error.http !== 404 && error.http !== 405)) throw error
    throw new Failure(exitCodes.notFound, `cannot look up the ${kind} "${name}": this server has no GET ${path}`, {
      hint: `Give the ID instead: id:123`,
    })
  }
}

function pick(kind: Kind, name: string, wanted: string, list: readonly Named[]): number {
  // An exact spelling settles what case alone leaves open.
  const alike = list.filter(item => item.names.some(other => other.toLowerCase() === wanted))
  const exact = alike.filter(item => item.names.includes(bare(kind, name)))
  const found = exact.length > 0 ? exact : alike
  if (found.length === 1) return found[0]!.id
  if (found.length > 1) {
    const which = found.map(item => `id:${item.id} (${item.names[0]})`).join(', ')
    throw usage(`"${name}" is the name of ${found.length} ${kind}s`, `Say which: ${which}`)
  }
  throw new Failure(exitCodes.notFound, `no ${kind} is called "${name}"`, {
    hint:
      didYouMean(
        wanted,
        list.flatMap(item => item.names),
      ) ?? `\`natter ${kind}s list\` shows them all.`,
  })
}

function bare(kind: Kind, name: string): string {
  if (kind === 'channel') return name.replace(/^#/, '')
  return kind === 'group' ? name.replace(/^@/, '') : name
}

function idIn(item: Reply, field: string): number {
  const id = item[field]
  if (typeof id === 'number') return id
  throw new Failure(exitCodes.refused, `the server's answer has no ${field}`, { code: 'BAD_ANSWER' })
}
