// What other resources ask of the messages' read state.

import type { Fact } from './facts.ts'
import type { State } from './state.ts'

/** Marks everything that one person sent and another has not read as read. */
export function readMessagesFrom(_state: State, _readerId: number, _senderId: number): Fact[] {
  return []
}
