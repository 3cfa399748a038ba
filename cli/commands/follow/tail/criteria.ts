// The filters of `tail` and `wait`: as predicates on one event, and as narrows for the server.

import type { Pattern } from '../../../../daemon/api/pattern.ts'
import type { ChatEvent, Place } from '../../../base/chat-event.ts'
import { usage } from '../../../base/failure.ts'
import type { Kind, Names } from '../../../input/names.ts'
import { narrowFrom, queueTerm } from '../../../input/narrow.ts'
import { isId } from '../../../input/people.ts'

export interface Criterion {
  /** In a sentence: "differed in sender". */
  readonly name: string
  /** Undefined if the event does not tell. */
  meets(event: ChatEvent, place: Place | undefined): boolean | undefined
}

export interface Filters {
  readonly channel?: readonly string[]
  readonly topic?: readonly string[]
  /** True for any direct message, or with whom. */
  readonly dm?: string | true
  readonly sender?: readonly string[]
  readonly mentions?: boolean
  readonly narrow?: string
  /** A text, or `/pattern/`. */
  readonly match?: string
}

interface Criteria {
  readonly all: readonly Criterion[]
  readonly narrow: readonly unknown[]
  readonly queueNarrow: readonly (readonly [string, string])[]
}

export async function criteriaFor(filters: Filters, names: Names): Promise<Criteria> {
  const all: Criterion[] = []
  const narrow: unknown[] = []
  const queueNarrow: [string, string][] = []
  const { channel, topic, dm, sender } = filters
  if (channel) {
    const ids = await resolveIds('channel', channel, names)
    all.push({ name: 'channel', meets: (_, place) => place && ids.includes(place.channelId ?? -1) })
    if (ids.length === 1) narrow.push({ operator: 'channel', operand: ids[0] })
    if (channel.length === 1 && !isId(channel[0]!)) queueNarrow.push(['channel', channel[0]!.replace(/^#/, '')])
  }
  if (topic) {
    const wanted = topic.map(name => name.toLowerCase())
    all.push({ name: 'topic', meets: (_, place) => place && wanted.includes(place.topic?.toLowerCase() ?? '\0') })
    if (topic.length === 1) {
      narrow.push({ operator: 'topic', operand: topic[0] })
      queueNarrow.push(['topic', topic[0]!])
    }
  }
  if (dm !== undefined) {
    const people = dm === true ? undefined : await resolveIds('user', dm.split(','), names)
    all.push({ name: 'dm', meets: (_, place) => place && isDirect(place, people) })
    narrow.push(people ? { operator: 'dm', operand: people } : { operator: 'is', operand: 'dm' })
    queueNarrow.push(['is', 'dm'])
  }
  if (sender) {
    const ids = await resolveIds('user', sender, names)
    all.push({ name: 'sender', meets: (event, place) => place && ids.includes(actorOf(event) ?? place.senderId ?? -1) })
    if (ids.length === 1) narrow.push({ operator: 'sender', operand: ids[0] })
    if (sender.length === 1 && sender[0]!.includes('@')) queueNarrow.push(['sender', sender[0]!])
  }
  if (filters.mentions) {
    all.push({ name: 'mention', meets: event => event.flags?.some(flag => flag.endsWith('mentioned')) ?? false })
    narrow.push({ operator: 'is', operand: 'mentioned' })
    queueNarrow.push(['is', 'mentioned'])
  }
  if (filters.match !== undefined) all.push(await textCriterion(filters.match, '--match'))
  if (filters.narrow !== undefined) {
    const terms = narrowFrom(filters.narrow)
    narrow.push(...terms)
    queueNarrow.push(...terms.map(queueTerm))
  }
  return { all, narrow, queueNarrow }
}

/** `/pattern/i`, or a text that must be contained. */
export async function textCriterion(wanted: string, flag: string): Promise<Criterion> {
  const pattern = wanted.startsWith('/') ? await readPattern(wanted, flag) : undefined
  return {
    name: 'text',
    meets: event => {
      const text = readText(event)
      return pattern ? pattern.test(text) : text.includes(wanted)
    },
  }
}

/** The texts come from a server, which must not be able to keep the program busy with one. */
async function readPattern(wanted: string, flag: string): Promise<Pattern | undefined> {
  const { compilePattern, patternIn } = await import('../../../../daemon/api/pattern.ts')
  const found = patternIn(wanted)
  // One test a text: `g` and `y` change nothing.
  const pattern = found && compilePattern(found.source, found.flags.replace(/[gy]/g, ''))
  if (pattern && 'problem' in pattern) throw usage(`${flag}: ${pattern.problem}`)
  return pattern
}

export function readText(event: ChatEvent): string {
  if (event.message) return event.message.content ?? ''
  if (typeof event.content === 'string') return event.content
  return JSON.stringify(event)
}

function actorOf(event: ChatEvent): number | undefined {
  return event.type !== 'message' && typeof event.user_id === 'number' ? event.user_id : undefined
}

function isDirect({ people }: Place, wanted: readonly number[] | undefined): boolean {
  if (!people) return false
  const ids = people.map(person => Number(person.id ?? person.user_id))
  return wanted === undefined || wanted.every(id => ids.includes(id))
}

async function resolveIds(kind: Kind, wanted: readonly string[], names: Names): Promise<number[]> {
  const ids: number[] = []
  for (const name of wanted) ids.push(isId(name) ? Number(name.replace(/^id:/, '')) : await names.find(kind, name))
  return ids
}
