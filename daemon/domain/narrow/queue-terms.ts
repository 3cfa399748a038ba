// What an event queue can be narrowed by.

import { badRequest } from '../refusal.ts'

export type QueueNarrow = readonly (readonly [operator: string, operand: string])[]

const operands = new Set(['dm', 'private', 'starred', 'unread', 'alerted', 'mentioned', 'resolved'])

/** The parameter of `register`, checked. */
export function queueNarrow(given: readonly (readonly string[])[]): QueueNarrow {
  return given.map((term, index) => {
    if (term.length !== 2) throw badRequest(`narrow[${index}] is not a pair of operator and operand`)
    const [operator, operand] = term as [string, string]
    if (!['channel', 'stream', 'topic', 'sender', 'is'].includes(operator))
      throw badRequest(`narrow[${index}]: a queue cannot be narrowed by '${operator}'`)
    if (operator === 'is' && !operands.has(operand))
      throw badRequest(`narrow[${index}]: a queue cannot be narrowed to '${operand}'`)
    return [operator, operand] as const
  })
}
