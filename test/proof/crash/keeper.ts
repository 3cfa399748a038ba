// The keeper of the crash campaign: writes to one slot after the other, and knows what each must hold after a crash.

import assert from 'node:assert/strict'
import { botStorage } from '../../../daemon/api/bots/bot-storage.ts'
import { events } from '../../../daemon/api/events.ts'
import { uploads } from '../../../daemon/api/files/uploads.ts'
import { keyHeader } from '../../../daemon/api/idempotency.ts'
import { messages } from '../../../daemon/api/messages/messages.ts'
import { invitations } from '../../../daemon/api/people/invitations.ts'
import { pushDevices } from '../../../daemon/api/people/push-devices.ts'
import { cutOff } from '../../support/http.ts'
import { type Place, phone } from './place.ts'
import type { Call, Slot, World } from './slots/slot.ts'
import { slotsOf } from './slots.ts'

/** Archived and deactivated records have to be listed, too. */
const client_capabilities = {
  notification_settings_null: true,
  archived_channels: true,
  linkifier_url_template: true,
  include_deactivated_groups: true,
}

export class CrashKeeper {
  readonly #place: Place
  readonly #random: () => number
  readonly #slots: readonly Slot[]
  /** The number of the value that was answered last. */
  readonly #answered = new Map<Slot, number>()
  #unknown: { readonly slot: Slot; readonly call: Call } | undefined
  #world: World = {}
  /** Whether the world has been read since the last write. */
  #isFresh = false
  done = 0

  constructor(place: Place, random: () => number) {
    this.#place = place
    this.#random = random
    this.#slots = slotsOf(place)
  }

  async work(url: string, living: { readonly is: boolean }): Promise<void> {
    while (living.is) {
      const slot = this.#next()
      const n = this.#numberOf(slot) + 1
      const call = slot.write(n, this.#world)
      this.#unknown = { slot, call }
      if (!(await this.#ask(url, slot, call).catch(cutOff))) return
      this.#take(slot, n)
    }
  }

  /**
   * To look takes eight calls, and most rounds are over before. So half of the first writes, which know what `settle` has read, are for slots
   * that need it. What was made is mostly taken away by the next write: a store is too short-lived to leave that to chance.
   */
  #next(): Slot {
    const needsLook = this.#isFresh && this.#random() < 0.5
    const slots = this.#slots.filter(({ looksUp = false }) => looksUp === needsLook)
    const made = this.#random() < 0.7 && slots.find(slot => this.#numberOf(slot) % 2 === 1)
    return made || slots[Math.floor(this.#random() * slots.length)]!
  }

  /** Writes to every slot twice, and reads what it wrote. */
  async writeEach(url: string): Promise<void> {
    for (const n of [1, 2]) {
      for (const slot of this.#slots) {
        if (slot.looksUp && !this.#isFresh) await this.#look(url)
        await this.#ask(url, slot, slot.write(n, this.#world))
        this.#take(slot, n)
      }
      await this.settle(url)
    }
  }

  /** Every slot has the value that was answered; true when one has a value that was not. */
  async settle(url: string): Promise<boolean> {
    await this.#look(url)
    const before = this.done
    if (this.#unknown) {
      const { slot, call } = this.#unknown
      this.#unknown = undefined
      const n = this.#numberOf(slot) + 1
      if (call.key) {
        await this.#ask(url, slot, call)
        await this.#look(url)
      }
      if (call.key || slot.read(this.#world) === slot.value(n)) this.#take(slot, n)
    }
    for (const slot of this.#slots)
      assert.equal(slot.read(this.#world), slot.value(this.#numberOf(slot)), `${slot.name} is not as it was answered`)
    return this.done > before
  }

  async #ask(url: string, { name }: Slot, { endpoint, params, as = 'keeper', key }: Call): Promise<true> {
    this.#isFresh = false
    const caller = this.#place[as].at(url)
    const reply = await caller.try(endpoint, { ...params }, key ? { [keyHeader]: key } : {})
    assert.equal(reply.body.result, 'success', `${name}: ${reply.text}`)
    return true
  }

  async #look(url: string): Promise<void> {
    const { message: message_id, moved: moved_id } = this.#place
    const [keeper, bot] = [this.#place.keeper.at(url), this.#place.bot.at(url)]
    const { queue_id, ...state } = await keeper.call(events.register, {
      client_capabilities,
      include_subscribers: 'true',
    })
    if (queue_id) await keeper.call(events.delete, { queue_id })
    const { invites } = await keeper.call(invitations.list, {})
    const { storage } = await bot.call(botStorage.get, {})
    const { attachments } = await keeper.call(uploads.list, {})
    const { message } = await keeper.call(messages.get, { message_id, apply_markdown: false })
    const { message: moved } = await keeper.call(messages.get, { message_id: moved_id, apply_markdown: false })
    // Devices are listed nowhere, but a notification to an unknown one is refused.
    const notified = await keeper.try(pushDevices.test, { token: phone })
    const hasPhone = notified.body.result === 'success'
    this.#world = { ...state, invites, storage, attachments, message, moved, hasPhone }
    this.#isFresh = true
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
