// One reader of the crash campaign: polls a queue over every crash, acknowledging late, or not at all, now and then.

import assert from 'node:assert/strict'
import { isDeepStrictEqual } from 'node:util'
import { events } from '../../../daemon/api/events.ts'
import type { Caller } from '../../support/daemon.ts'
import { cutOff } from '../../support/http.ts'
import type { Text, Told } from './snippet-event.ts'
import type { Said } from './talker.ts'

interface Heard {
  readonly id: number
  readonly type: string
  readonly op: string
  readonly saved_snippet_id?: number
  readonly saved_snippet?: Text & { readonly id: number }
  readonly [field: string]: any
}

export class CrashReader {
  readonly #queue: string
  readonly #random: () => number
  /** Every event by its ID: what comes again must be the same. */
  readonly heard = new Map<number, Heard>()
  #newest = -1
  #acknowledged = -1
  /** The same, as far as a poll that was answered said so. */
  #surely = -1

  constructor(queue: string, random: () => number) {
    this.#queue = queue
    this.#random = random
  }

  async work(caller: Caller, living: { readonly is: boolean }): Promise<void> {
    while (living.is) {
      if (this.#random() < 0.8) this.#acknowledged = this.#newest
      const reply = await this.#poll(caller, this.#random() < 0.3).catch(cutOff)
      if (!reply) return
      this.#hear(reply.body.events)
    }
  }

  /** After a crash: what was not acknowledged is there again, and nothing that was. */
  async recover(caller: Caller): Promise<void> {
    await this.#checkAcknowledged(caller)
    const reply = await this.#poll(caller, true)
    this.#hear(reply.body.events)
    const again = reply.body.events as Heard[]
    for (const event of this.heard.values())
      if (event.id > this.#acknowledged && event.type !== 'typing')
        assert.ok(
          again.some(one => contains(one, event)),
          `event ${event.id} was not acknowledged, and is gone`,
        )
  }

  /** Asked from the beginning, a queue has nothing that was acknowledged, and has deleted nothing that was not. */
  async #checkAcknowledged(caller: Caller): Promise<void> {
    const { body } = await caller.try(events.get, { queue_id: this.#queue, last_event_id: -1, dont_block: true })
    if (body.result !== 'success') {
      const deleted = Number(/events up to (\d+) have already been deleted/.exec(body.msg)?.[1])
      assert.ok(deleted <= this.#acknowledged, `${body.msg}, and ${this.#acknowledged} was acknowledged`)
    } else
      for (const { id } of body.events)
        assert.ok(id > this.#surely, `event ${id} comes again, and ${this.#surely} was acknowledged`)
  }

  async #poll(caller: Caller, dont_block: boolean) {
    const last_event_id = this.#acknowledged
    const reply = await caller.try(events.get, { queue_id: this.#queue, last_event_id, dont_block })
    assert.equal(reply.body.result, 'success', reply.text)
    this.#surely = last_event_id
    return reply
  }

  #hear(list: readonly Heard[]): void {
    let previous = this.#acknowledged
    for (const event of list) {
      assert.ok(event.id > previous, `event ${event.id} comes after ${previous}`)
      previous = event.id
      const before = this.heard.get(event.id)
      if (before) assert.ok(contains(event, before), `event ${event.id} has become another`)
      else assert.ok(event.id > this.#newest, `event ${event.id} comes late, after ${this.#newest}`)
      this.heard.set(event.id, event)
      this.#newest = Math.max(this.#newest, event.id)
    }
  }

  story(): Told[] {
    const told: Told[] = []
    for (const { type, op, saved_snippet, saved_snippet_id } of this.heard.values()) {
      if (type !== 'saved_snippets') continue
      const { id, title, content } = saved_snippet ?? { id: saved_snippet_id! }
      told.push(title === undefined ? { op, id } : { op, id, title, content: content! })
    }
    return told
  }

  /** What the events say was done to messages. */
  talk(): Said[] {
    return [...this.heard.values()].flatMap(event => said(event) ?? [])
  }

  /** The state that the events alone would give. */
  folded(): Map<number, Text> {
    const state = new Map<number, Text>()
    for (const { op, id, title, content } of this.story())
      if (op === 'remove') state.delete(id)
      else state.set(id, { title: title!, content: content! })
    return new Map([...state].sort(([a], [b]) => a - b))
  }
}

/**
 * Whether one event tells what another told. They are the same, except that a start joins changes of a flag that were not acknowledged,
 * whether they were answered together or not.
 */
function contains(event: Heard, told: Heard): boolean {
  if (event.type !== 'update_message_flags') return isDeepStrictEqual(event, told)
  const isSameChange = told.type === event.type && told.op === event.op && told.flag === event.flag
  return isSameChange && event.id >= told.id && told.messages.every((id: number) => event.messages.includes(id))
}

function said(event: Heard): Said | undefined {
  const { type, op, message_id: id } = event
  switch (type) {
    case 'message': {
      const { id, type, content, subject } = event.message
      return { what: 'send', id, content, topic: type === 'stream' ? subject : '' }
    }
    case 'update_message':
      return { what: 'edit', id, content: event.content, topic: event.subject ?? '' }
    case 'delete_message':
      return { what: 'delete', id }
    case 'reaction':
      return { what: op === 'add' ? 'react' : 'unreact', id, by: event.user_id, emoji: event.emoji_name }
    case 'update_message_flags':
      return { what: op as 'add' | 'remove', flag: event.flag, ids: event.messages }
  }
  return undefined
}
