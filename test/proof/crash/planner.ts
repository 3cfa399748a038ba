// The planner of the crash campaign: messages that are sent later, and messages to a bot whose server is called. Whatever was answered
// happens, over any number of crashes: a scheduled message is sent once, a server is called, and its answer is posted once.

import assert from 'node:assert/strict'
import { bots } from '../../../daemon/api/bots/bots.ts'
import { webhooks } from '../../../daemon/api/bots/webhooks.ts'
import { messages } from '../../../daemon/api/messages/messages.ts'
import { scheduledMessages } from '../../../daemon/api/messages/scheduled-messages.ts'
import { BotServer, json } from '../../support/bot-server.ts'
import type { Caller } from '../../support/daemon.ts'
import { cutOff } from '../../support/http.ts'
import { until } from '../../support/until.ts'

export class CrashPlanner {
  readonly #caller: Caller
  readonly #random: () => number
  readonly #server: BotServer
  #bot = 0
  /** By text, whether it was answered. */
  readonly #plans = new Map<string, boolean>()
  readonly #questions = new Map<string, boolean>()
  #count = 0
  done = 0

  private constructor(caller: Caller, server: BotServer, random: () => number) {
    this.#caller = caller
    this.#server = server
    this.#random = random
  }

  static async create(caller: Caller, random: () => number): Promise<CrashPlanner> {
    const server = new BotServer()
    await server.listen()
    server.answer = (response, received) => json({ content: `answer to ${received.body.data}` })(response, received)
    const planner = new CrashPlanner(caller, server, random)
    const hook = { full_name: 'hook', short_name: 'hook', bot_type: 3 as const, payload_url: server.url }
    planner.#bot = (await caller.call(bots.create, hook)).user_id
    return planner
  }

  close(): Promise<void> {
    return this.#server.close()
  }

  get counts(): { readonly scheduled: number; readonly webhooks: number } {
    return { scheduled: this.#plans.size, webhooks: this.#questions.size }
  }

  async work(url: string, living: { readonly is: boolean }): Promise<void> {
    while (living.is) if (!(await (this.#random() < 0.5 ? this.#plan(url) : this.#ask(url)))) return
  }

  async #plan(url: string): Promise<boolean> {
    const caller = this.#caller.at(url)
    const content = `plan ${++this.#count}`
    // Soon, so that some are due while the daemon is dead.
    const scheduled_delivery_timestamp = Math.ceil(Date.now() / 1000) + 1 + Math.floor(this.#random() * 2)
    this.#plans.set(content, false)
    const plan = { type: 'direct', to: [caller.id], content, scheduled_delivery_timestamp }
    const reply = await caller.try(scheduledMessages.create, plan).catch(cutOff)
    if (!reply) return false
    // On a slow machine its time can be over when it arrives.
    if (reply.body.result === 'success') this.#answer(this.#plans, content)
    else {
      assert.match(reply.text, /scheduled_delivery_timestamp/)
      this.#plans.delete(content)
    }
    return true
  }

  async #ask(url: string): Promise<boolean> {
    const content = `question ${++this.#count}`
    this.#questions.set(content, false)
    const asked = this.#caller.at(url).try(messages.send, { type: 'direct', to: [this.#bot], content })
    const reply = await asked.catch(cutOff)
    if (!reply) return false
    assert.equal(reply.body.result, 'success', reply.text)
    this.#answer(this.#questions, content)
    return true
  }

  #answer(of: Map<string, boolean>, text: string): void {
    of.set(text, true)
    this.done++
  }

  /** After a crash: everything that was planned is still planned, or was sent, and not both. */
  async settle(url: string): Promise<void> {
    const caller = this.#caller.at(url)
    const isWaiting = new Set(
      (await caller.call(scheduledMessages.list, {})).scheduled_messages.map(({ content }) => content),
    )
    // Read after the list: what was sent between the two is in both.
    const sent = await this.#texts(caller)
    for (const [text, isAnswered] of this.#plans) {
      const times = sent.get(text) ?? 0
      assert.ok(times <= 1, `${text} was sent ${times} times`)
      assert.ok(
        !isAnswered || isWaiting.has(text) || times === 1,
        `${text} was planned, and is neither waiting nor sent`,
      )
    }
    for (const [text, isAnswered] of this.#questions)
      assert.ok(!isAnswered || sent.get(text) === 1, `${text} was sent ${sent.get(text)} times`)
  }

  /** At the end: nothing waits any more, and everything that was answered has happened once. */
  async finish(url: string, kills: number): Promise<void> {
    const caller = this.#caller.at(url)
    const waiting = async () => (await caller.call(scheduledMessages.list, {})).scheduled_messages
    await until(async () => (await waiting()).every(({ failed }) => failed))
    assert.deepEqual(await waiting(), [], 'scheduled messages that could not be sent')
    await until(async () => {
      const { deliveries } = await caller.call(webhooks.log, {})
      return deliveries.every(({ status }) => status !== 'waiting')
    })
    await this.settle(url)
    const sent = await this.#texts(caller)
    const called = new Map<string, number>()
    for (const { body } of this.#server.received) called.set(body.data, (called.get(body.data) ?? 0) + 1)
    for (const text of this.#questions.keys()) {
      const times = sent.get(text) ?? 0
      assert.equal(sent.get(`answer to ${text}`) ?? 0, times, `answers to ${text}`)
      if (times === 1) assert.ok(called.has(text), `the server of the bot never got ${text}`)
      assert.ok(
        (called.get(text) ?? 0) <= kills + 1,
        `${text} was sent to the server of the bot ${called.get(text)} times`,
      )
    }
  }

  /** How often each text was sent, of all messages of the account. */
  async #texts(caller: Caller): Promise<Map<string, number>> {
    const times = new Map<string, number>()
    for (let anchor = 0; ; ) {
      const page = { anchor: String(anchor), num_before: 0, num_after: 1000, apply_markdown: false }
      const { messages: list, found_newest } = await caller.call(messages.list, page)
      for (const { content } of list) times.set(content, (times.get(content) ?? 0) + 1)
      if (found_newest) return times
      anchor = list.at(-1)!.id + 1
    }
  }
}
