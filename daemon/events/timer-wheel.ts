// Many deadlines, few timers: deadlines are rounded up to the second and share one timer per second. Counted by elapsed
// time, so that setting the clock of the machine moves none of them.

import type { Clock } from '../clock.ts'

export class Wheel<T> {
  readonly #timers: Clock
  readonly #fire: (item: T) => void
  readonly #slots = new Map<number, Set<T>>()
  readonly #slotOf = new Map<T, number>()

  constructor(timers: Clock, fire: (item: T) => void) {
    this.#timers = timers
    this.#fire = fire
  }

  /** Sets the item's one deadline, replacing an earlier one. */
  at(time: number, item: T): void {
    this.forget(item)
    const second = Math.ceil(time / 1000)
    let slot = this.#slots.get(second)
    if (!slot) {
      slot = new Set()
      this.#slots.set(second, slot)
      this.#timers.after(second * 1000 - this.#timers.elapsed(), () => this.#turn(second))
    }
    slot.add(item)
    this.#slotOf.set(item, second)
  }

  has(item: T): boolean {
    return this.#slotOf.has(item)
  }

  forget(item: T): void {
    const second = this.#slotOf.get(item)
    if (second === undefined) return
    this.#slotOf.delete(item)
    this.#slots.get(second)?.delete(item)
  }

  #turn(second: number): void {
    const slot = this.#slots.get(second)
    this.#slots.delete(second)
    for (const item of slot ?? []) {
      this.#slotOf.delete(item)
      this.#fire(item)
    }
  }
}
