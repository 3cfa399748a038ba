// One account that makes traffic. Everything it changes is numbered, so that its readers know what they have to hear.

import assert from 'node:assert/strict'
import { messages } from '../../../daemon/api/messages/messages.ts'
import { reactions } from '../../../daemon/api/messages/reactions.ts'
import { savedSnippets } from '../../../daemon/api/messages/saved-snippets.ts'
import type { Caller } from '../../support/daemon.ts'

/** Where messages go. */
export type Room =
  | { readonly type: 'direct'; readonly to: readonly number[] }
  | { readonly type: 'channel'; readonly to: number; readonly topic: string }

/** What the events about one thing have in common, such as `message 9`: messages sent by user 9. */
export type Source = `${'snippet' | 'message' | 'edit' | 'reaction'} ${number}`

export class Account {
  readonly caller: Caller
  readonly #rooms: readonly Room[]
  /** How many events of each source there have been. */
  readonly spoken = new Map<Source, number>()
  /** Own messages, oldest first. */
  readonly living = new Set<number>()
  #snippet = 0
  #newest: { readonly id: number; isReacted: boolean } | undefined

  constructor(caller: Caller, rooms: readonly Room[]) {
    this.caller = caller
    this.#rooms = rooms
  }

  get id(): number {
    return this.caller.id
  }

  /** Before its queues are registered. */
  async prepare(): Promise<void> {
    const { saved_snippet_id } = await this.caller.call(savedSnippets.create, { title: '0', content: 'numbered' })
    this.#snippet = saved_snippet_id
  }

  async save(): Promise<void> {
    const source: Source = `snippet ${this.id}`
    const title = String(this.#next(source))
    await this.caller.call(savedSnippets.edit, { saved_snippet_id: this.#snippet, title })
    this.#happened(source)
  }

  async send(): Promise<void> {
    const source: Source = `message ${this.id}`
    const number = this.#next(source)
    const room = this.#rooms[number % this.#rooms.length]!
    const where = room.type === 'direct' ? { type: 'direct' as const, to: [...room.to] } : room
    const { id } = await this.caller.call(messages.send, {
      ...where,
      content: `${number} is the number of this message`,
    })
    this.#happened(source)
    this.living.add(id)
    this.#newest = { id, isReacted: false }
  }

  async edit(): Promise<void> {
    if (!this.#newest) return this.send()
    const source: Source = `edit ${this.id}`
    const content = `${this.#next(source)} is the number of this edit`
    await this.caller.call(messages.update, { message_id: this.#newest.id, content })
    this.#happened(source)
  }

  async react(): Promise<void> {
    if (!this.#newest) return this.send()
    const newest = this.#newest
    const endpoint = newest.isReacted ? reactions.remove : reactions.add
    await this.caller.call(endpoint, { message_id: newest.id, emoji_name: 'tada' })
    newest.isReacted = !newest.isReacted
    this.#happened(`reaction ${this.id}`)
  }

  /** Sends until there are so many own messages, and from then on deletes the oldest in turn: the state stays as large as it is. */
  async sendOrDelete(most: number): Promise<void> {
    if (this.living.size < most) return this.send()
    const [oldest] = this.living
    assert.ok(oldest !== undefined)
    await this.caller.call(messages.delete, { message_id: oldest })
    this.living.delete(oldest)
    if (this.#newest?.id === oldest) this.#newest = undefined
  }

  #next(source: Source): number {
    return (this.spoken.get(source) ?? 0) + 1
  }

  #happened(source: Source): void {
    this.spoken.set(source, this.#next(source))
  }
}
