// The terms that an event queue can be narrowed by.

import { inQuotes, invalid } from '../refusal.ts'
import { topicMeant } from '../values/topic-names.ts'

export type QueueNarrow = readonly (readonly [operator: string, operand: string])[]

const operands = new Set(['dm', 'private', 'starred', 'unread', 'alerted', 'mentioned', 'resolved'])

/** Characters of all terms: every queue keeps its own, and a follower sends many to the leader in one call. */
const mostCharacters = 2000

/** The parameter of `register`, checked. */
export function queueNarrow(given: readonly (readonly string[])[]): QueueNarrow {
  if (given.flat().join('').length > mostCharacters)
    throw invalid('narrow', `must have at most ${mostCharacters} characters in all`)
  // Each once: every message is compared with every term that fits.
  const terms = new Map<string, QueueNarrow[number]>()
  for (const [index, term] of given.entries()) {
    if (term.length !== 2) throw invalid(`narrow[${index}]`, 'must be a pair of operator and operand')
    const [operator, operand] = term as [string, string]
    if (!['channel', 'stream', 'topic', 'sender', 'is'].includes(operator))
      throw invalid(`narrow[${index}]`, `event queues do not support the operator ${inQuotes(operator)}`)
    // OPEN: of the operands of `is` in the narrow of a queue, the public server refuses `followed` alone; with any other that it does not
    // know, every message matches. Here it is refused: it is a mistake.
    if (operator === 'is' && !operands.has(operand))
      throw invalid(`narrow[${index}]`, `event queues do not support the operand ${inQuotes(operand)}`)
    const lower = operand.toLowerCase()
    const meant = operator === 'topic' ? topicMeant(lower) : lower
    terms.set(`${operator === 'stream' ? 'channel' : operator} ${meant}`, [operator, operand])
  }
  return [...terms.values()]
}
