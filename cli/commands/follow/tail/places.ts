// Remembers the places of recent messages, since reactions, edits and deletions carry only IDs; asks the server if needed.

import { type ChatEvent, type Message, type Place, placeIn, placeOfMessage } from '../../../base/chat-event.ts'
import { Failure } from '../../../base/failure.ts'
import type { Connection } from '../../../transport/connection.ts'

/** Characters as well: a server can send messages of any size. */
const remembered = { messages: 5000, characters: 64 * 1024 * 1024 }

interface Known {
  readonly message: Message
  readonly characters: number
}

export class Places {
  readonly #connection: Connection
  readonly #known = new Map<number, Known>()
  #characters = 0
  #channels: Promise<Map<number, string>> | undefined

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** `characters`: of its JSON, if they are known. */
  remember(message: Message, characters = JSON.stringify(message).length): void {
    this.#forget(message.id)
    this.#known.set(message.id, { message, characters })
    this.#characters += characters
    const { messages: most, characters: room } = remembered
    while (this.#known.size > most || (this.#known.size > 1 && this.#characters > room))
      this.#forget(this.#known.keys().next().value!)
  }

  #forget(id: number): void {
    this.#characters -= this.#known.get(id)?.characters ?? 0
    this.#known.delete(id)
  }

  async of(event: ChatEvent): Promise<Place | undefined> {
    if (event.message) return placeOfMessage(event.message)
    const own = placeIn(event)
    const id = messageIn(event)
    const message = id === undefined ? undefined : (this.#known.get(id)?.message ?? (await this.#ask(event, id)))
    const known = message && placeOfMessage(message)
    const place = own && known ? { ...known, ...omitUndefined(own) } : (own ?? known)
    if (place?.channelId === undefined || place.channel !== undefined) return place
    return { ...place, channel: await this.#channelName(place.channelId) }
  }

  async #ask(event: ChatEvent, id: number): Promise<Message | undefined> {
    if (event.type === 'delete_message') return undefined
    try {
      const reply = await this.#connection.call('GET', `/messages/${id}`, {
        apply_markdown: false,
        allow_empty_topic_name: true,
      })
      const message = reply.message as Message | undefined
      if (message) this.remember(message)
    } catch (error) {
      if (!(error instanceof Failure)) throw error
    }
    return this.#known.get(id)?.message
  }

  async #channelName(id: number): Promise<string | undefined> {
    this.#channels ??= this.#connection.call('GET', '/streams').then(
      reply => new Map((reply.streams as { stream_id: number; name: string }[]).map(row => [row.stream_id, row.name])),
      () => new Map(),
    )
    const names = await this.#channels
    return names.get(id)
  }
}

function messageIn(event: ChatEvent): number | undefined {
  if (typeof event.message_id === 'number') return event.message_id
  return Array.isArray(event.message_ids) ? event.message_ids[0] : undefined
}

function omitUndefined(place: Place): Partial<Place> {
  return Object.fromEntries(Object.entries(place).filter(([, value]) => value !== undefined))
}
