// The news of each level, as sentences: for the docs, and for clients that move from one level to another.

import type { TSchema } from '@sinclair/typebox'
import { capabilities } from '../capabilities.ts'
import type { Endpoint } from '../define.ts'
import { catalogue } from '../index.ts'
import { type Behaviour, behaviours } from './behaviours.ts'
import type { Form } from './change.ts'
import { changes } from './changes.ts'
import { defaultLevel } from './releases.ts'

export interface News {
  readonly level: number
  /** Levels above it that do not have it. */
  readonly gap?: readonly [from: number, to: number] | undefined
  /** Something that clients read is different or gone. */
  readonly breaks: boolean
  readonly about: string
  /** IDs of the endpoints whose replies or params it is about; `register-queue` for the state. */
  readonly endpoints: readonly string[]
  /** Types of the events that it is about. */
  readonly events: readonly string[]
  /** The param that it is about. */
  readonly param?: string
  /** How it shows in replies and events: a client that never got what changes is not concerned. */
  readonly forms: readonly PlacedForm[]
}

export interface PlacedForm {
  readonly in: 'reply' | 'event'
  /** The ID of an endpoint, or the type of an event. */
  readonly of: string
  readonly form: Form
}

/** By level; what breaks clients first. */
export async function levelNews(): Promise<News[]> {
  const endpoints: Endpoint[] = []
  for (const { load } of Object.values(catalogue)) endpoints.push(...Object.values(await load()))
  const news = [...changeNews(), ...behaviourNews(), ...endpoints.flatMap(endpointNews), ...capabilityNews()]
  return news
    .filter(({ level }) => level > defaultLevel)
    .sort((a, b) => a.level - b.level || Number(b.breaks) - Number(a.breaks) || (a.about < b.about ? -1 : 1))
}

function changeNews(): News[] {
  return changes.map(({ level, gap, about, breaks = false, register, events = {}, replies = {} }) => ({
    level,
    gap,
    breaks,
    about,
    endpoints: [...Object.keys(replies), ...(register ? ['register-queue'] : [])],
    events: Object.keys(events),
    forms: [
      ...(register ? [{ in: 'reply' as const, of: 'register-queue', form: register }] : []),
      ...Object.entries(events).map(([of, form]) => ({ in: 'event' as const, of, form })),
      ...Object.entries(replies).map(([of, form]) => ({ in: 'reply' as const, of, form })),
    ],
  }))
}

function behaviourNews(): News[] {
  return Object.values<Behaviour>(behaviours).map(
    ({ since: level, about, breaks = false, endpoints = [], events = [] }) => ({
      ...plain(level, about),
      breaks,
      endpoints,
      events,
    }),
  )
}

function capabilityNews(): News[] {
  return Object.entries(capabilities).map(([name, { since, effect }]) =>
    plain(since, `Clients can declare the capability ${name}: ${effect}`),
  )
}

function endpointNews(endpoint: Endpoint): News[] {
  const { id, method, path, since, until, params, reply } = endpoint
  const route = `${method} ${path.replace('...}', '}')}`
  const of = (level: number, about: string, param?: string): News => ({
    ...plain(level, about),
    endpoints: [id],
    ...(param !== undefined && { param }),
  })
  const news = [of(since, `${route} is new.`)]
  if (until !== undefined) news.push({ ...of(until, `${route} is gone.`), breaks: true })
  for (const [name, param] of Object.entries(params)) {
    if (param.since !== undefined) news.push(of(param.since, `${route} takes ${name}.`, name))
    if (param.until !== undefined)
      news.push({ ...of(param.until, `${route} does not take ${name} any more.`, name), breaks: true })
    if (param.earlier)
      news.push({ ...of(param.earlier.until, `${route}: ${name} takes other values.`, name), breaks: true })
  }
  return [
    ...news,
    ...fieldNews(reply, []).map(({ level, gone, path: field }) => {
      const about = `${route}: the reply ${gone ? 'has no' : 'has'} ${field}.`
      const form = gone ? { ends: [field.replaceAll('[]', '.*')] } : {}
      return { ...of(level, about), breaks: gone, forms: [{ in: 'reply' as const, of: id, form }] }
    }),
  ]
}

interface FieldNews {
  readonly level: number
  readonly path: string
  readonly gone: boolean
}

function fieldNews(fields: Readonly<Record<string, TSchema>>, place: readonly string[]): FieldNews[] {
  return Object.entries(fields).flatMap(([name, shape]) => {
    const path = [...place, name]
    const own: FieldNews[] = []
    if (shape.since !== undefined) own.push({ level: shape.since, path: path.join('.'), gone: false })
    if (shape.until !== undefined) own.push({ level: shape.until, path: path.join('.'), gone: true })
    return [...own, ...inside(shape, path)]
  })
}

function inside(shape: TSchema, [...place]: readonly string[]): FieldNews[] {
  if (shape.anyOf) return (shape.anyOf as TSchema[]).flatMap(arm => inside(arm, place))
  if (shape.items) return inside(shape.items, [...place.slice(0, -1), `${place.at(-1)}[]`])
  return fieldNews(shape.properties ?? {}, place)
}

function plain(level: number, about: string): News {
  return { level, breaks: false, about, endpoints: [], events: [], forms: [] }
}
