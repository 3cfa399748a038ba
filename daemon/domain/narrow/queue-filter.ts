// The narrow of an event queue: a filter over the messages its user receives.

import { apiEmail } from '../model/lookups.ts'
import type { Message } from '../model/message-store/index.ts'
import type { State } from '../model/state.ts'
import { resolvedPrefix, topicMeant } from '../values/topic-names.ts'
import type { QueueNarrow } from './queue-terms.ts'

export function queueTakes(state: State, message: Message, flags: readonly string[], narrow: QueueNarrow): boolean {
  return narrow.every(([operator, operand]) => fits(state, message, flags, operator, operand))
}

function fits(state: State, message: Message, flags: readonly string[], operator: string, operand: string): boolean {
  const wanted = operand.toLowerCase()
  const inChannel = message.channelId !== undefined
  switch (operator) {
    case 'channel':
    case 'stream':
      return inChannel && state.channels.get(message.channelId!)!.name.toLowerCase() === wanted
    case 'topic':
      return inChannel && message.topic!.toLowerCase() === topicMeant(wanted)
    case 'sender':
      return apiEmail(state, state.users.get(message.senderId)!).toLowerCase() === wanted
    default:
      break
  }
  switch (operand) {
    case 'dm':
    case 'private':
      return !inChannel
    case 'starred':
      return flags.includes('starred')
    case 'unread':
      return !flags.includes('read')
    case 'resolved':
      return inChannel && message.topic!.startsWith(resolvedPrefix)
    default:
      return flags.includes('mentioned')
  }
}
