// Randomness: real, or the same again for the same seed.

import { createHash, randomUUID } from 'node:crypto'

export interface Randomness {
  uuid(): string
  /** From 0 up to, and not including, 1. */
  number(): number
}

export const realRandomness: Randomness = { uuid: randomUUID, number: Math.random }

export function seededRandomness(seed: string): Randomness {
  let turn = 0
  const bytes = () => createHash('sha256').update(`${seed}:${turn++}`).digest()
  return {
    uuid() {
      const hex = bytes().toString('hex')
      const variant = ((Number.parseInt(hex[16]!, 16) & 3) | 8).toString(16)
      return [
        hex.slice(0, 8),
        hex.slice(8, 12),
        `4${hex.slice(13, 16)}`,
        variant + hex.slice(17, 20),
        hex.slice(20, 32),
      ].join('-')
    },
    number: () => bytes().readUIntBE(0, 6) / 2 ** 48,
  }
}
