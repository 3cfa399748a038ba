// Which color a new subscription gets: the first of the palette that the person does not use yet.

import { badRequest } from '../refusal.ts'
import type { State } from '../state.ts'

const palette = (
  '76ce90 fae589 a6c7e5 e79ab5 bfd56f f4ae55 b0a5fd addfe5 f5ce6e c2726a 94c849 bd86e5 ' +
  'ee7e4a a6dcbf 95a5fd 53a063 9987e1 e4523d c2c2c2 4f8de4 c6a8ad e7cc4d c8bebf a47462'
)
  .split(' ')
  .map(hex => `#${hex}`)

/** A bit for each color of the palette. */
const bits = new Map(palette.map((color, index) => [color, 1 << index]))

export class Colors {
  readonly #state: State
  /** What people use already and are given now; undefined when everyone is given one only. */
  readonly #used: Map<number, number> | undefined

  constructor(state: State, several: boolean) {
    this.#state = state
    this.#used = several ? new Map() : undefined
  }

  next(userId: number, channelId: number): string {
    const used = this.#used?.get(userId) ?? this.#usedBy(userId)
    let index = 0
    while (index < palette.length && used & (1 << index)) index++
    this.#used?.set(userId, used | (1 << index))
    return palette[index] ?? palette[channelId % palette.length]!
  }

  #usedBy(userId: number): number {
    let used = 0
    // By index: this is asked of ten thousand people at once.
    const rows = this.#state.subscriptions.rowsOfUser(userId)
    for (let i = 0; i < rows.length; i++) used |= bits.get(rows[i]!.color) ?? 0
    return used
  }
}

export function checkColor(parameter: string, color: unknown): string {
  if (typeof color === 'string' && /^#([0-9a-f]{3,6})$/i.test(color)) return color
  throw badRequest(`${parameter} is not a color such as #76ce90`)
}
