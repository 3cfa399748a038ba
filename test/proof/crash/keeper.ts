// The keeper of the crash campaign: writes to one slot after the other, and knows what each must hold after a crash.

import assert from 'node:assert/strict'
import { botStorage } from '../../../daemon/api/bots/bot-storage.ts'
import { events } from '../../../daemon/api/events.ts'
import { invitations } from '../../../daemon/api/people/invitations.ts'
import type { Caller } from '../../support/daemon.ts'
import { cutOff } from '../../support/http.ts'
import type { Place } from './place.ts'
import { type Slot, slotsOf, type World } from './slots.ts'

/** Archived and deactivated records have to be listed, too. */
const client_capabilities = {
  notification_settings_null: true,
  archived_channels: true,
  linkifier_url_template: true,
  include_deactivated_groups: true,
}

export class CrashKeeper {
  readonly #keeper: Caller
  readonly #bot: Caller
  readonly #random: () => number
  readonly #slots: readonly Slot[]
  /** The number of the value that was answered last. */
  readonly #answered = new Map<Slot, number>()
  #unknown: Slot | undefined
  #world: World = {}
  done = 0

  constructor(place: Place, random: () => number) {
    this.#keeper = place.keeper
    this.#bot = place.bot
    this.#random = random
    this.#slots = slotsOf(place)
  }

  async work(url: string, living: { readonly is: boolean }): Promise<void> {
    while (living.is) {
      const slot = this.#slots[Math.floor(this.#random() * this.#slots.length)]!
      const n = this.#numberOf(slot) + 1
      if (slot.looksUp && n % 2 === 0 && !(await this.#look(url).catch(cutOff))) return
      const { endpoint, params, asBot } = slot.write(n, this.#world)
      this.#unknown = slot
      const caller = (asBot ? this.#bot : this.#keeper).at(url)
      const reply = await caller.try(endpoint, { ...params }).catch(cutOff)
      if (!reply) return
      assert.equal(reply.body.result, 'success', `${slot.name}: ${reply.text}`)
      this.#take(slot, n)
    }
  }

  /** Every slot has the value that was answered; true when one has a value that was not. */
  async settle(url: string): Promise<boolean> {
    await this.#look(url)
    const unknown = this.#unknown
    this.#unknown = undefined
    if (unknown) {
      const n = this.#numberOf(unknown) + 1
      if (unknown.read(this.#world) === unknown.value(n)) this.#take(unknown, n)
    }
    for (const slot of this.#slots)
      assert.equal(slot.read(this.#world), slot.value(this.#numberOf(slot)), `${slot.name} is not as it was answered`)
    return unknown !== undefined && this.#unknown === undefined
  }

  async #look(url: string): Promise<true> {
    const [keeper, bot] = [this.#keeper.at(url), this.#bot.at(url)]
    const { queue_id, ...state } = await keeper.call(events.register, { client_capabilities })
    if (queue_id) await keeper.call(events.delete, { queue_id })
    const { invites } = await keeper.call(invitations.list, {})
    const { storage } = await bot.call(botStorage.get, {})
    this.#world = { ...state, invites, storage }
    return true
  }

  #take(slot: Slot, n: number): void {
    this.#unknown = undefined
    this.#answered.set(slot, n)
    this.done++
  }

  #numberOf(slot: Slot): number {
    return this.#answered.get(slot) ?? 0
  }
}
