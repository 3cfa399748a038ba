// Which color a new subscription gets: the first of the palette that the person does not use yet.

import { badRequest } from '../refusal.ts'
import type { State } from '../state.ts'

const palette = (
  '76ce90 fae589 a6c7e5 e79ab5 bfd56f f4ae55 b0a5fd addfe5 f5ce6e c2726a 94c849 bd86e5 ' +
  'ee7e4a a6dcbf 95a5fd 53a063 9987e1 e4523d c2c2c2 4f8de4 c6a8ad e7cc4d c8bebf a47462'
)
  .split(' ')
  .map(hex => `#${hex}`)

export class Colors {
  readonly #state: State
  readonly #used = new Map<number, Set<string>>()

  constructor(state: State) {
    this.#state = state
  }

  next(userId: number, channelId: number): string {
    let used = this.#used.get(userId)
    if (!used) {
      used = this.#state.subscriptions.colorsOf(userId)
      this.#used.set(userId, used)
    }
    const free = palette.find(color => !used.has(color)) ?? palette[channelId % palette.length]!
    used.add(free)
    return free
  }
}

export function checkColor(parameter: string, color: unknown): string {
  if (typeof color === 'string' && /^#([0-9a-f]{3,6})$/i.test(color)) return color
  throw badRequest(`${parameter} is not a color such as #76ce90`)
}
