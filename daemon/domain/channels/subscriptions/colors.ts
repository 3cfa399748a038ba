// Chooses the color of a new subscription: the first of the palette that the person does not use yet.

import type { State } from '../../model/state.ts'
import { invalid } from '../../refusal.ts'
import { palette } from '../../values/color-palette.ts'

export class Colors {
  readonly #state: State
  /** What people use already and are given now; undefined when everyone is given one only. */
  readonly #used: Map<number, number> | undefined

  constructor(state: State, several: boolean) {
    this.#state = state
    this.#used = several ? new Map() : undefined
  }

  /** People who come to a channel, by the color they get. */
  given(userIds: readonly number[], channelId: number, chosen?: string): Record<string, readonly number[]> {
    if (chosen !== undefined) return userIds.length > 0 ? { [chosen]: userIds } : {}
    const indexes = userIds.map(userId => this.#next(userId, channelId))
    // Most often it is one for all.
    if (indexes.every(index => index === indexes[0]))
      return userIds.length > 0 ? { [palette[indexes[0]!]!]: userIds } : {}
    return Object.fromEntries(
      palette
        .map((color, index) => [color, userIds.filter((_, at) => indexes[at] === index)] as const)
        .filter(([, people]) => people.length > 0),
    )
  }

  #next(userId: number, channelId: number): number {
    const used = this.#used?.get(userId) ?? this.#state.subscriptions.colorsOfUser(userId)
    const index = firstUnset(used)
    this.#used?.set(userId, used | (1 << index))
    return index < palette.length ? index : channelId % palette.length
  }
}

function firstUnset(bits: number): number {
  return 31 - Math.clz32(~bits & (bits + 1))
}

export function checkColor(parameter: string, color: unknown): string {
  if (typeof color === 'string' && /^#([0-9a-f]{3,6})$/i.test(color)) return color
  throw invalid(parameter, 'must be a color such as #76ce90')
}
