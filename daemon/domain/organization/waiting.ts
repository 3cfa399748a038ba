// stand-in
import type { Fact } from '../facts.ts'
import type { State } from '../state.ts'

export function waitingSettled(_state: State, _now: number, _days: number): Fact[] {
  return []
}
