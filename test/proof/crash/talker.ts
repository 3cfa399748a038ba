// One talker of the crash campaign: sends, edits, reacts and flags, and knows what must be true after a crash. It touches
// only messages of its own, so that two talkers of one account do not cross.

import assert from 'node:assert/strict'
import { messageFlags } from '../../../daemon/api/messages/message-flags.ts'
import { messages } from '../../../daemon/api/messages/messages.ts'
import { reactions } from '../../../daemon/api/messages/reactions.ts'
import type { Caller } from '../../support/daemon.ts'
import { cutOff, type HttpReply } from '../../support/http.ts'

/** Something that was done to messages; also how an event about it reads. */
export type Said =
  | { readonly what: 'send' | 'edit'; readonly id: number; readonly content: string; readonly topic: string }
  | { readonly what: 'react' | 'unreact'; readonly id: number; readonly by: number; readonly emoji: string }
  | { readonly what: 'add' | 'remove'; readonly flag: string; readonly ids: readonly number[] }
  | { readonly what: 'delete'; readonly id: number }

/** A message as the campaign looks at it. The topic of a direct message is empty. */
export interface Talk {
  readonly content: string
  readonly topic: string
  /** `user emoji`, sorted. */
  readonly reactions: readonly string[]
  /** Those that are set by hand, sorted. */
  readonly flags: readonly string[]
}

const topics = ['beans', 'peas', 'kale']
const emoji = ['tada', 'smile']
const flags = ['starred', 'collapsed', 'read']

export class CrashTalker {
  readonly #name: string
  readonly #channel: number
  readonly #others: readonly number[]
  readonly #random: () => number
  readonly #mine = new Map<number, Talk>()
  readonly #answered: Said[] = []
  #unknown: Said | undefined
  #count = 0
  done = 0

  constructor(name: string, channel: number, others: readonly number[], random: () => number) {
    this.#name = name
    this.#channel = channel
    this.#others = others
    this.#random = random
  }

  get mine(): ReadonlyMap<number, Talk> {
    return this.#mine
  }

  async work(caller: Caller, living: { readonly is: boolean }): Promise<void> {
    while (living.is) {
      const next = this.#next(caller.id)
      this.#unknown = next
      const reply = await this.#ask(caller, next).catch(cutOff)
      if (!reply) return
      assert.equal(reply.body.result, 'success', reply.text)
      this.#take(next.what === 'send' ? { ...next, id: reply.body.id } : next)
    }
  }

  /** Content and topic change together, and flags those of several messages: half a change would show. */
  #next(self: number): Said {
    const content = `${this.#name}/${++this.#count}`
    const [id, talk] = this.#pick([...this.#mine]) ?? []
    const chance = this.#random()
    if (id === undefined || talk === undefined || chance < 0.3)
      return { what: 'send', id: 0, content, topic: this.#random() < 0.2 ? '' : this.#pick(topics)! }
    if (chance < 0.5) return { what: 'edit', id, content, topic: talk.topic && other(talk.topic) }
    if (chance < 0.7) {
      const chosen = this.#pick(emoji)!
      const set = talk.reactions.includes(`${self} ${chosen}`)
      return { what: set ? 'unreact' : 'react', id, by: self, emoji: chosen }
    }
    if (chance < 0.75) return { what: 'delete', id }
    const flag = this.#pick(flags)!
    const what = talk.flags.includes(flag) ? 'remove' : 'add'
    const alike = [...this.#mine].filter(([, one]) => one.flags.includes(flag) === talk.flags.includes(flag))
    return { what, flag, ids: alike.slice(0, 3).map(([one]) => one) }
  }

  #pick<T>(list: readonly T[]): T | undefined {
    return list[Math.floor(this.#random() * list.length)]
  }

  #ask(caller: Caller, said: Said): Promise<HttpReply> {
    switch (said.what) {
      case 'send': {
        const { content, topic } = said
        if (topic === '') return caller.try(messages.send, { type: 'direct', to: [...this.#others], content })
        return caller.try(messages.send, { type: 'channel', to: this.#channel, topic, content })
      }
      case 'edit': {
        const { id: message_id, content, topic } = said
        const move = topic !== '' && { topic, send_notification_to_new_thread: false }
        return caller.try(messages.update, { message_id, content, ...move })
      }
      case 'delete':
        return caller.try(messages.delete, { message_id: said.id })
      case 'react':
        return caller.try(reactions.add, { message_id: said.id, emoji_name: said.emoji })
      case 'unreact':
        return caller.try(reactions.remove, { message_id: said.id, emoji_name: said.emoji })
      default:
        return caller.try(messageFlags.update, { op: said.what, flag: said.flag, messages: [...said.ids] })
    }
  }

  #take(said: Said): void {
    this.#unknown = undefined
    this.done++
    this.#answered.push(said)
    tell(this.#mine, said)
  }

  /** Everything of its own is as it was answered; true when something unanswered had happened. */
  async settle(caller: Caller): Promise<boolean> {
    const found = await read(caller, [...this.#mine.keys()])
    const unknown = this.#unknown && (await this.#happened(caller, this.#unknown, found))
    if (unknown) this.#take(unknown)
    this.#unknown = undefined
    if (unknown?.what === 'send') found.set(unknown.id, (await read(caller, [unknown.id])).get(unknown.id)!)
    assert.deepEqual([...found], [...this.#mine], `messages of talker ${this.#name} are not as they were answered`)
    return unknown !== undefined
  }

  /** The unanswered request with what came of it; undefined when nothing did. */
  async #happened(caller: Caller, unknown: Said, found: ReadonlyMap<number, Talk>): Promise<Said | undefined> {
    if (unknown.what === 'send') {
      const { messages: newest } = await caller.call(messages.list, {
        anchor: 'newest',
        num_before: 30,
        num_after: 0,
        narrow: [{ operator: 'sender', operand: caller.id }],
        apply_markdown: false,
      })
      const sent = newest.find(({ content }) => content === unknown.content)
      return sent && { ...unknown, id: sent.id }
    }
    // Its own messages are in its own hands: any difference to what it knows is the work of the unanswered request.
    const id = 'ids' in unknown ? unknown.ids[0]! : unknown.id
    try {
      assert.deepEqual(found.get(id), this.#mine.get(id))
      return undefined
    } catch {
      return unknown
    }
  }

  /**
   * Everything that happened was announced once, in the order it happened. Of flags only their owner hears, and changes that were not read are joined
   * into one event: their order counts for each flag of each message.
   */
  checkTold(story: readonly Said[], own: boolean): void {
    const ids = new Set(this.#answered.flatMap(said => ('ids' in said ? said.ids : [said.id])))
    const about = `events about the messages of talker ${this.#name}`
    const told = separateFlags(story, id => ids.has(id))
    const done = separateFlags(this.#answered, id => ids.has(id))
    assert.deepEqual(told, own ? done : { ...done, flags: new Map() }, about)
  }
}

/**
 * A story in a form that is equal for two queues, wherever their reads joined changes of flags. A daemon that was killed does not know
 * which joined changes it had answered, and may tell one again: that counts once.
 */
export interface Separated {
  readonly others: readonly Said[]
  /** By flag and message: what was done to it, in order. */
  readonly flags: ReadonlyMap<string, readonly string[]>
}

export function separateFlags(story: readonly Said[], isWanted: (message: number) => boolean = () => true): Separated {
  const others: Said[] = []
  const flags = new Map<string, string[]>()
  for (const said of story) {
    if (!('ids' in said)) {
      if (isWanted(said.id)) others.push(said)
      continue
    }
    for (const id of said.ids.filter(isWanted)) {
      const key: string = `${said.flag} ${id}`
      const changes: readonly string[] = flags.get(key) ?? []
      if (changes.at(-1) !== said.what) flags.set(key, [...changes, said.what])
    }
  }
  return { others, flags }
}

function other(topic: string): string {
  return topics[(topics.indexOf(topic) + 1) % topics.length]!
}

/** What becomes of the messages when this is done. */
export function tell(known: Map<number, Talk>, said: Said): void {
  const change = (id: number, with_: (talk: Talk) => Partial<Talk>) => {
    const talk = known.get(id)
    if (talk) known.set(id, { ...talk, ...with_(talk) })
  }
  if (said.what === 'send') known.set(said.id, { content: said.content, topic: said.topic, reactions: [], flags: [] })
  else if (said.what === 'edit') change(said.id, () => ({ content: said.content, topic: said.topic }))
  else if (said.what === 'delete') known.delete(said.id)
  else if ('ids' in said)
    for (const id of said.ids) change(id, talk => ({ flags: set(talk.flags, said.flag, said.what === 'add') }))
  else if ('emoji' in said) {
    const mark = `${said.by} ${said.emoji}`
    change(said.id, talk => ({ reactions: set(talk.reactions, mark, said.what === 'react') }))
  }
}

function set(list: readonly string[], item: string, there: boolean): string[] {
  return [...list.filter(one => one !== item), ...(there ? [item] : [])].sort()
}

/** These messages as the daemon has them, in ascending order. */
export async function read(caller: Caller, ids: readonly number[]): Promise<Map<number, Talk>> {
  const found = new Map<number, Talk>()
  for (let at = 0; at < ids.length; at += 500) {
    const message_ids = ids.slice(at, at + 500)
    const reply = await caller.call(messages.list, { message_ids, apply_markdown: false })
    for (const one of reply.messages)
      found.set(one.id, {
        content: one.content,
        topic: one.type === 'stream' ? one.subject : '',
        reactions: one.reactions.map(({ user_id, emoji_name }) => `${user_id} ${emoji_name}`).sort(),
        flags: one.flags!.filter(flag => flags.includes(flag)).sort(),
      })
  }
  return found
}
