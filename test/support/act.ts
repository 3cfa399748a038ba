// One step of a random history: what it is made from, and where it happens.

import type { User } from '../../daemon/domain/model/state.ts'
import type { World } from './in-process.ts'

export interface Step {
  readonly what: number
  readonly who: number
  readonly a: number
  readonly b: number
  readonly yes: boolean
}

export interface Scene {
  readonly world: World
  readonly people: readonly User[]
  readonly channels: readonly number[]
  readonly groups: readonly number[]
  readonly acts: readonly Act[]
}

export type Act = (scene: Scene, step: Step) => readonly [endpoint: string, params: Record<string, unknown>] | undefined
