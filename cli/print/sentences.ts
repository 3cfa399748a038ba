// Lines for people where the reply itself is hard to read: who was subscribed to what, who the members are.
// With --json, --fields and --jq the reply is printed unchanged.

import type { CliForm } from '../../daemon/api/define.ts'
import type { Reply } from '../base/reply.ts'

/** Full names by user ID, fetched only if other users are mentioned. */
export type NamesById = () => Promise<ReadonlyMap<number, string>>

type Sentences = (reply: Reply, names: NamesById) => Promise<string[]> | string[]

export const sentences: Readonly<Record<NonNullable<CliForm['says']>, Sentences>> = {
  async subscribed(reply, names) {
    const done = await byPerson(reply.subscribed, 'subscribed to', names)
    return [...done, ...(await byPerson(reply.already_subscribed, 'already subscribed to', names))]
  },
  unsubscribed: ({ removed, not_removed }) => [
    ...sentence('unsubscribed from', removed),
    ...sentence('not subscribed to', not_removed),
  ],
  async people({ subscribers, members, user_ids }, names) {
    const ids = [subscribers ?? members ?? user_ids].flat().filter(id => id !== undefined)
    const known = ids.length === 0 ? new Map<number, string>() : await names()
    const width = Math.max(0, ...ids.map(id => String(id).length))
    return ids.map(id => `${String(id).padEnd(width)}  ${known.get(Number(id)) ?? ''}`.trimEnd())
  },
  'topic-deleted': ({ complete }) => (complete === true ? [] : ['Some messages are left. Run the command again.']),
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
