// Lines for people where the reply itself is hard to read: who was subscribed to what, who the members are.
// With --json, --fields and --jq the reply is printed unchanged.

import type { CliForm } from '../../daemon/api/cli-form.ts'
import type { Reply } from '../base/reply.ts'
import { columnWidth, cutText } from '../base/text-layout.ts'

/** Full names by user ID, fetched only if other users are mentioned. */
type NamesById = () => Promise<ReadonlyMap<number, string>>

/** `fresh`: the channels that were not there before the call. */
type Sentences = (reply: Reply, names: NamesById, fresh?: readonly string[]) => Promise<string[]> | string[]

export const sentences: Readonly<Record<NonNullable<CliForm['says']>, Sentences>> = {
  async subscribed(reply, names, fresh = []) {
    const people = Object.entries((reply.subscribed ?? {}) as Record<string, readonly string[]>)
    const created = fresh.filter(name => people.some(([, channels]) => channels.includes(name)))
    const isOne = people.length === 1
    // Of one person, a channel that was created is not named again.
    const old = people.map(([id, channels]) => [id, channels.filter(name => !isOne || !created.includes(name))])
    return [
      ...created.map(name => `created #${name}${isOne ? ' and subscribed' : ''}`),
      ...(await byPerson(Object.fromEntries(old), 'subscribed to', names)),
      ...(await byPerson(reply.already_subscribed, 'already subscribed to', names)),
    ]
  },
  unsubscribed: ({ removed, not_removed }) => [
    ...sentence('unsubscribed from', removed),
    ...sentence('not subscribed to', not_removed),
  ],
  async people({ subscribers, members, user_ids }, names) {
    const ids = [subscribers ?? members ?? user_ids].flat().filter(id => id !== undefined)
    const known = ids.length === 0 ? new Map<number, string>() : await names()
    const width = columnWidth(ids.map(id => String(id).length))
    return ids.map(id => `${String(id).padEnd(width)}  ${known.get(Number(id)) ?? ''}`.trimEnd())
  },
  explanation({ summary, steps }) {
    const list = (steps ?? []) as { step: string; ok: boolean | null; says: string; rule?: string; law?: string }[]
    const width = columnWidth(list.map(({ step }) => step.length))
    const lines = list.flatMap(({ step, ok, says, rule, law }) => [
      `${(ok === null ? '-' : ok ? 'ok' : 'no').padEnd(4)}${step.padEnd(width)}  ${says}`,
      ...(law === undefined || ok === true ? [] : [`${' '.repeat(width + 6)}${rule ? `Rule ${rule}: ` : ''}${law}`]),
    ])
    return [String(summary), ...lines]
  },
  difference({ total, resources }) {
    if (total === 0) return ['No difference.']
    const found = Object.entries(resources as Record<string, Record<'added' | 'changed' | 'removed', Differing[]>>)
    const lines = found.flatMap(([resource, { added, changed, removed }]) => [
      resource.replaceAll('_', ' '),
      ...added.map(thing => `  + ${describeThing(thing)}`),
      ...changed.flatMap(thing => [`  ~ ${describeThing(thing)}`, ...changeLines(thing)]),
      ...removed.map(thing => `  - ${describeThing(thing)}`),
    ])
    const listed = found.reduce((sum, [, { added, changed, removed }]) => {
      return sum + added.length + changed.length + removed.length
    }, 0)
    const left = Number(total) - listed
    return left > 0 ? [...lines, `and ${left} more; --limit lists more`] : lines
  },
  'topic-deleted': ({ complete }) => (complete === true ? [] : ['Some messages are left. Run the command again.']),
}

/** One thing of a difference. */
interface Differing {
  readonly id: number | string
  readonly name: string
  readonly fields?: Readonly<Record<string, unknown>>
  readonly changes?: Readonly<Record<string, { readonly from: unknown; readonly to: unknown }>>
}

/** Messages are shown by their text, everything else by its name. */
function describeThing({ id, name, fields }: Differing): string {
  const content = typeof fields?.content === 'string' ? `: ${excerpt(fields.content)}` : ''
  return `${name}${typeof id === 'number' && !name.endsWith(String(id)) ? ` (${id})` : ''}${content}`
}

function changeLines({ changes = {} }: Differing): string[] {
  return Object.entries(changes).map(([field, { from, to }]) => `      ${field}: ${excerpt(from)} → ${excerpt(to)}`)
}

function excerpt(value: unknown): string {
  return cutText(JSON.stringify(value), 80)
}

/** One line per user; users are named if there are several. */
async function byPerson(found: unknown, verb: string, names: NamesById): Promise<string[]> {
  const people = Object.entries((found ?? {}) as Record<string, unknown>)
  if (people.length === 1) return sentence(verb, people[0]![1])
  const known = people.length === 0 ? new Map<number, string>() : await names()
  return people.flatMap(([id, channels]) =>
    sentence(verb, channels).map(line => `${known.get(Number(id)) ?? id}: ${line}`),
  )
}

function sentence(verb: string, channels: unknown): string[] {
  return Array.isArray(channels) && channels.length > 0 ? [`${verb} ${channels.join(', ')}`] : []
}
