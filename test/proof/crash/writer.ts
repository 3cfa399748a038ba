// One writer of the crash campaign: does one thing after the other, and knows what must be true after a crash.

import assert from 'node:assert/strict'
import { savedSnippets } from '../../../daemon/api/messages/saved-snippets.ts'
import type { Caller } from '../../support/daemon.ts'
import { cutOff } from '../../support/http.ts'
import type { Text, Told } from './snippet-event.ts'

/** What was asked for and not answered: it happened, or it did not, and nothing in between. */
type Unknown =
  | { readonly what: 'create'; readonly text: Text }
  | { readonly what: 'edit'; readonly id: number; readonly text: Text }
  | { readonly what: 'delete'; readonly id: number }

export class CrashWriter {
  readonly #name: string
  readonly #random: () => number
  readonly #mine = new Map<number, Text>()
  readonly #answered: Told[] = []
  #unknown: Unknown | undefined
  #count = 0
  done = 0

  constructor(name: string, random: () => number) {
    this.#name = name
    this.#random = random
  }

  async work(caller: Caller, living: { readonly is: boolean }): Promise<void> {
    while (living.is) {
      const next = this.#next()
      this.#unknown = next
      const reply = await ask(caller, next).catch(cutOff)
      if (!reply) return
      assert.equal(reply.body.result, 'success', reply.text)
      this.#take(next, reply.body.saved_snippet_id)
    }
  }

  /** Title and content always change together: half a change would show. */
  #next(): Unknown {
    const text = { title: `${this.#name}/${++this.#count}`, content: `content of ${this.#name}/${this.#count}` }
    const ids = [...this.#mine.keys()]
    const id = ids[Math.floor(this.#random() * ids.length)]
    const chance = this.#random()
    if (id === undefined || chance < 0.4) return { what: 'create', text }
    return chance < 0.75 ? { what: 'edit', id, text } : { what: 'delete', id }
  }

  #take(happened: Unknown, newId: number): void {
    this.#unknown = undefined
    this.done++
    if (happened.what === 'delete') {
      this.#mine.delete(happened.id)
      this.#answered.push({ op: 'remove', id: happened.id })
    } else {
      const id = happened.what === 'create' ? newId : happened.id
      this.#mine.set(id, happened.text)
      this.#answered.push({ op: happened.what === 'create' ? 'add' : 'update', id, ...happened.text })
    }
  }

  /** Takes what is its own out of what is left; true when something unanswered had happened. */
  settle(left: Map<number, Text>): boolean {
    const happened = this.#unknown !== undefined && this.#find(this.#unknown, left)
    if (happened !== undefined && happened !== false) this.#take(this.#unknown!, happened)
    this.#unknown = undefined
    for (const [id, text] of this.#mine) {
      assert.deepEqual(left.get(id), text, `snippet ${id} of writer ${this.#name} is not as it was answered`)
      left.delete(id)
    }
    return typeof happened === 'number'
  }

  /** The ID of what the unanswered request has changed; undefined when it did not happen. */
  #find(unknown: Unknown, left: ReadonlyMap<number, Text>): number | undefined {
    if (unknown.what === 'delete') return left.has(unknown.id) ? undefined : unknown.id
    if (unknown.what === 'edit') return left.get(unknown.id)?.title === unknown.text.title ? unknown.id : undefined
    for (const [id, { title }] of left) if (title === unknown.text.title) return id
    return undefined
  }

  /** Everything that happened was announced once, in the order it happened. */
  checkTold(story: readonly Told[]): void {
    const own = new Set(this.#answered.map(({ id }) => id))
    assert.deepEqual(
      story.filter(({ id }) => own.has(id)),
      this.#answered,
      `events about the snippets of writer ${this.#name}`,
    )
  }
}

function ask(caller: Caller, unknown: Unknown) {
  if (unknown.what === 'create') return caller.try(savedSnippets.create, { ...unknown.text })
  const { id } = unknown
  if (unknown.what === 'delete') return caller.try(savedSnippets.delete, { saved_snippet_id: id })
  return caller.try(savedSnippets.edit, { saved_snippet_id: id, ...unknown.text })
}
