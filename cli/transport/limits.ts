// Enforces the limits of a profile: refuses a call before it leaves, by what it changes and the places that it names, and removes events of other
// places from what a queue returns. A limit binds the program that uses the profile; it is no right that the server checks.

import type { Page } from '../../daemon/api/define.ts'
import { impactOf } from '../../daemon/api/impact.ts'
import type { Failure } from '../base/failure.ts'
import { type Limit, type Limits, limitRefusal } from '../base/limits.ts'
import type { Reply } from '../base/reply.ts'
import { type Place, placesIn } from './places.ts'
import { findRoute, loadRoutes } from './routes.ts'

/** A request that is about to leave. */
export interface Leaving {
  readonly method: string
  /** From the root of the site, with its query. */
  readonly path: string
  /** Fields of the body, as they travel. */
  readonly form: readonly (readonly [string, string])[]
  /** The body is something else, which cannot be read here. */
  readonly opaque?: boolean
}

/** A read without limits, from the root of the site. */
export type Ask = (path: string) => Promise<Reply>

/** Where a message is; null for a direct one. */
type ChannelId = number | null

interface Channel {
  readonly stream_id: number
  readonly name: string
}

const mostRemembered = 10_000

export class Guard {
  readonly #limits: Limits
  readonly #ask: Ask
  #directory: Promise<readonly Channel[]> | undefined
  readonly #messages = new Map<number, ChannelId>()

  constructor(limits: Limits, ask: Ask) {
    this.#limits = limits
    this.#ask = ask
  }

  /** Throws a Failure that says which limit refuses the call, and how to lift it. */
  async check(leaving: Leaving): Promise<void> {
    const { method, path } = leaving
    const shown = `${method} ${path.split('?', 1)[0]}`
    const isControl = path.startsWith('/control/')
    const limitsPlaces = this.#limits.channels !== undefined || this.#limits.noDirect === true
    if (isControl && (limitsPlaces || /^\/control\/v1\/accounts(?=[/?]|$)/.test(path)))
      throw this.#refusal(this.#first, `${shown} is of the control plane, which opens every account`)
    if (leaving.form.some(([name]) => name === 'method'))
      throw this.#refusal(
        this.#first,
        `the field method of ${shown} makes it another call`,
        'Make that call by its own method.',
      )
    const isRead = method === 'GET' || method === 'HEAD'
    if (isRead && (!limitsPlaces || !path.startsWith('/api/'))) return
    const found = await findEndpoint(method === 'HEAD' ? 'GET' : method, path)
    if (this.#limits.readOnly && !isRead && (!found || impactOf(found.endpoint) !== 'read'))
      throw this.#refusal('read-only', `${shown} changes something`)
    if (limitsPlaces) await this.#checkPlaces(leaving, shown, found)
  }

  async #checkPlaces(
    { path, form, opaque }: Leaving,
    shown: string,
    found: ReturnType<typeof findRoute>,
  ): Promise<void> {
    if (!found)
      throw this.#refusal(this.#first, `${shown} is not an endpoint that natter knows, so its place is unknown`)
    if (opaque)
      throw this.#refusal(
        this.#first,
        `the body of ${shown} is a file, so its place is unknown`,
        'Send fields instead.',
      )
    // What a queue returns is looked through instead.
    if (found.endpoint.served === 'queues') return
    const query = new URLSearchParams(path.split('?')[1])
    const places = placesIn(found.endpoint, [...Object.entries(found.params), ...query, ...form])
    await this.#locate(places.flatMap(place => (place.kind === 'message' ? [place.id] : [])))
    for (const place of places) await this.#checkPlace(place, shown)
  }

  async #checkPlace(place: Place, shown: string): Promise<void> {
    const { channels, noDirect } = this.#limits
    if (place.kind === 'everywhere' || place.kind === 'channels') {
      if (channels)
        throw this.#refusal(
          'channels',
          `${shown} concerns others, too`,
          `Name one of them: ${channels.map(channel => `--channel '${channel}'`).join(', ')}`,
        )
      if (place.kind === 'everywhere')
        throw this.#refusal('no-direct', `${shown} concerns them, too`, "Name a channel, or add --narrow '-is:dm'.")
      return
    }
    const [channel, what] =
      place.kind === 'direct'
        ? [null, 'a direct conversation']
        : place.kind === 'channel'
          ? [place.channel, `the channel ${place.channel}`]
          : [this.#messages.get(place.id), `message ${place.id}`]
    if (channel === null ? noDirect : channels && !(await this.#allows(channel)))
      throw this.#refusal(channel === null ? 'no-direct' : 'channels', `${shown} names ${what}`)
  }

  /** The reply without events and unread messages of other places. */
  async filter(path: string, text: string): Promise<string> {
    const { channels, noDirect } = this.#limits
    if ((!channels && !noDirect) || !/^\/api\/v1\/(events|register)(?=[/?]|$)/.test(path)) return text
    let reply: Reply
    try {
      reply = JSON.parse(text)
    } catch {
      return text
    }
    const events = Array.isArray(reply.events) && (await this.#heard(reply.events as Reply[]))
    const unread = reply.unread_msgs ? await this.#unread(reply.unread_msgs as Unread) : undefined
    return JSON.stringify({ ...reply, ...(events && { events }), ...(unread && { unread_msgs: unread }) })
  }

  /** An event of another place leaves a heartbeat with its ID, so that the queue goes on after it. */
  async #heard(events: readonly Reply[]): Promise<Reply[]> {
    const heard: Reply[] = []
    for (const event of events) heard.push((await this.#mayHear(event)) ? event : { type: 'heartbeat', id: event.id })
    return heard
  }

  async #mayHear(event: Reply): Promise<boolean> {
    const message = (event.message ?? {}) as Reply
    const recipient = (event.recipient ?? {}) as Reply
    const channel = message.stream_id ?? event.stream_id ?? recipient.channel_id
    if (typeof message.id === 'number') this.#remember(message.id, (channel as number | undefined) ?? null)
    if (typeof channel === 'number')
      return (
        (await this.#mayEnter(channel)) &&
        (event.new_stream_id === undefined || this.#mayEnter(event.new_stream_id as number))
      )
    if (ofOneConversation.has(String(event.type))) return this.#limits.noDirect !== true
    const ids = [
      event.message_id ?? [],
      (ofMessages.has(String(event.type)) && event.messages) || [],
    ].flat() as number[]
    if (ids.length === 0) return true
    await this.#locate(ids).catch(() => {})
    for (const id of ids) if (!this.#messages.has(id) || !(await this.#mayEnter(this.#messages.get(id)!))) return false
    return true
  }

  async #unread({ streams, pms, huddles, ...others }: Unread): Promise<Unread> {
    const kept = []
    for (const one of streams) if (await this.#mayEnter(one.stream_id)) kept.push(one)
    const direct = this.#limits.noDirect ? { pms: [], huddles: [] } : { pms, huddles }
    return { ...others, streams: kept, ...direct }
  }

  async #mayEnter(channel: ChannelId): Promise<boolean> {
    if (channel === null) return this.#limits.noDirect !== true
    return this.#limits.channels === undefined || this.#allows(channel)
  }

  /** A text can be a name or an ID: if it can be both, both must be allowed. */
  async #allows(channel: string | number | undefined): Promise<boolean> {
    if (channel === undefined) return false
    const allowed = this.#limits.channels!.map(name => name.toLowerCase())
    const id = /^\d+$/.test(String(channel)) ? Number(channel) : undefined
    if (id === undefined) {
      const name = String(channel).toLowerCase()
      if (allowed.includes(name)) return true
      const ids = (await this.#channels())
        .filter(known => known.name.toLowerCase() === name)
        .map(known => known.stream_id)
      return ids.some(known => allowed.includes(`id:${known}`))
    }
    if (allowed.includes(`id:${id}`)) return true
    const known = (await this.#channels()).find(({ stream_id }) => stream_id === id)
    return known !== undefined && allowed.includes(known.name.toLowerCase())
  }

  #channels(): Promise<readonly Channel[]> {
    this.#directory ??= this.#ask('/api/v1/streams?exclude_archived=false').then(
      ({ streams }) => (Array.isArray(streams) ? streams : []) as Channel[],
    )
    return this.#directory
  }

  /** Looks up where messages are. A message that the server does not find is refused by the server, with its own words. */
  async #locate(ids: readonly number[]): Promise<void> {
    const unknown = [...new Set(ids)].filter(id => !this.#messages.has(id))
    if (unknown.length === 0) return
    const [only] = unknown
    const reply = await this.#ask(
      unknown.length === 1
        ? `/api/v1/messages/${only}?apply_markdown=false`
        : `/api/v1/messages?apply_markdown=false&message_ids=${encodeURIComponent(JSON.stringify(unknown))}`,
    )
    for (const message of [reply.message ?? reply.messages ?? []].flat() as Reply[])
      this.#remember(Number(message.id), (message.stream_id as number | undefined) ?? null)
    const lost = unknown.find(id => !this.#messages.has(id))
    if (lost !== undefined) await this.#ask(`/api/v1/messages/${lost}`)
  }

  #remember(id: number, channel: ChannelId): void {
    if (this.#messages.size >= mostRemembered) this.#messages.clear()
    this.#messages.set(id, channel)
  }

  /** The limit to name if more than one refuses. */
  get #first(): Limit {
    const { channels, noDirect } = this.#limits
    return channels ? 'channels' : noDirect ? 'no-direct' : 'read-only'
  }

  #refusal(limit: Limit, what: string, advice?: string): Failure {
    return limitRefusal(this.#limits, limit, what, advice)
  }
}

interface Unread extends Reply {
  readonly streams: readonly { readonly stream_id: number }[]
  readonly pms: readonly unknown[]
  readonly huddles: readonly unknown[]
}

/** Events about one conversation, which is a direct one if they name no channel. */
const ofOneConversation = new Set(['message', 'update_message', 'delete_message', 'typing', 'typing_edit_message'])
/** Events whose `messages` are IDs. */
const ofMessages = new Set(['update_message_flags'])

let routes: ReturnType<typeof loadRoutes> | undefined

async function findEndpoint(method: string, path: string): Promise<ReturnType<typeof findRoute>> {
  routes ??= loadAllRoutes()
  return findRoute(await routes, method, path.split('?', 1)[0]!)
}

async function loadAllRoutes(): ReturnType<typeof loadRoutes> {
  const [{ catalogue }, { controlPages }] = await Promise.all([
    import('../../daemon/api/index.ts'),
    import('../../daemon/api/control.ts'),
  ])
  return loadRoutes([...Object.values<Page>(catalogue), ...Object.values<Page>(controlPages)])
}
