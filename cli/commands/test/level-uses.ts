// Collects what a client used of the API, and says whether a change between levels concerns it.

import type { News, PlacedForm } from '../../../daemon/api/levels/news.ts'
import type { RecordedCall } from './replay/recording.ts'

export interface Uses {
  /** Names of the params that were sent, by the ID of the endpoint. */
  readonly params: ReadonlyMap<string, ReadonlySet<string>>
  /** What the client got: answers by the ID of the endpoint, events by their type. */
  readonly replies: ReadonlyMap<string, readonly unknown[]>
  readonly events: ReadonlyMap<string, readonly unknown[]>
}

type UsedCall = Pick<RecordedCall, 'endpoint' | 'sent'> & { readonly answer?: unknown }

/** The answers of polls have events; a log has them beside the calls. */
export function usesIn(calls: readonly UsedCall[], events: readonly unknown[] = []): Uses {
  const params = new Map<string, Set<string>>()
  const replies = new Map<string, unknown[]>()
  const byType = new Map<string, unknown[]>()
  const take = (event: unknown) => {
    const type = (event as { type?: unknown } | null)?.type
    if (typeof type === 'string') listIn(byType, type).push(event)
  }
  for (const { endpoint, sent, answer } of calls) {
    if (endpoint === null) continue
    params.set(endpoint, new Set([...(params.get(endpoint) ?? []), ...Object.keys(sent)]))
    const got = listIn(replies, endpoint)
    if (typeof answer !== 'object' || answer === null) continue
    got.push(answer)
    const polled = (answer as { events?: unknown }).events
    if (Array.isArray(polled)) for (const event of polled) take(event)
  }
  for (const event of events) take(event)
  return { params, replies, events: byType }
}

function listIn<T>(lists: Map<string, T[]>, key: string): T[] {
  const list = lists.get(key) ?? []
  lists.set(key, list)
  return list
}

/** A change without a place concerns every client. */
export function concerns({ endpoints, events, param, breaks, forms }: News, used: Uses): boolean {
  if (forms.length > 0) return forms.some(placed => isTouched(placed, used))
  if (param !== undefined && breaks) return used.params.get(endpoints[0]!)?.has(param) === true
  if (endpoints.length + events.length === 0) return true
  return endpoints.some(id => used.params.has(id)) || events.some(type => used.events.has(type))
}

/** Fields that are gone, as a client reads them: `reaction.user`. With uses, only those that the client got. */
export function goneFields({ forms }: Pick<News, 'forms'>, used: Uses | undefined): string[] {
  return forms.flatMap(placed =>
    (placed.form.ends ?? [])
      .filter(path => used === undefined || isGot(path, gotIn(placed, used)))
      .map(path => `${placed.of}.${path.replaceAll('.*', '[]')}`),
  )
}

/** Undefined if the client does not use that endpoint, or never got such an event. */
function gotIn({ in: place, of }: PlacedForm, used: Uses): readonly unknown[] | undefined {
  return (place === 'event' ? used.events : used.replies).get(of)
}

function isTouched(placed: PlacedForm, used: Uses): boolean {
  const got = gotIn(placed, used)
  const { ends = [], touches = [], older, newer } = placed.form
  if (got === undefined) return false
  const paths = [...ends, ...touches]
  if (paths.length > 0 && paths.some(path => isGot(path, got))) return true
  if (newer && got.some(value => isChanged(newer, value))) return true
  // Nothing says what it is about, or it only adds something.
  return older ? touches.length === 0 : paths.length === 0 && !newer
}

/** True also if the fields that the client got are not known. */
function isGot(path: string, values: readonly unknown[] | undefined): boolean {
  if (values === undefined) return false
  return values.length === 0 || values.some(value => hasField(value, path.split('.')))
}

function hasField(value: unknown, [name, ...rest]: readonly string[]): boolean {
  if (name === undefined) return true
  if (typeof value !== 'object' || value === null) return false
  if (name === '*') return Object.values(value).some(item => hasField(item, rest))
  return Object.hasOwn(value, name) && hasField((value as Record<string, unknown>)[name], rest)
}

/** Recordings come from anywhere: what cannot be changed is taken as changed. */
function isChanged(change: (built: any) => unknown, value: unknown): boolean {
  try {
    return JSON.stringify(change(value)) !== JSON.stringify(value)
  } catch {
    return true
  }
}
