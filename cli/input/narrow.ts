// A narrow as people write it: `channel:general topic:"release notes" is:mentioned`, or the API's own JSON.

import { usage } from '../base/failure.ts'

export interface Term {
  readonly operator: string
  readonly operand: unknown
  readonly negated?: boolean
}

export function narrowFrom(text: string): Term[] {
  if (/^\s*\[/.test(text)) return fromJson(text)
  const terms: Term[] = []
  for (const [, minus, operator, quoted, plain] of text.matchAll(/(-?)([\w-]+):(?:"([^"]*)"|(\S+))|\S+/g)) {
    if (operator === undefined)
      throw usage(`--narrow: "${text}" is not a list of operator:operand terms`, 'See natter help narrow')
    const operand = quoted ?? plain!
    const value = plain !== undefined && /^\d+$/.test(plain) && operator !== 'topic' ? Number(plain) : operand
    terms.push({ operator, operand: value, ...(minus && { negated: true }) })
  }
  return terms
}

/** The term as a pair of texts, which is what a queue of events takes. */
export function queueTerm({ operator, operand, negated }: Term): [string, string] {
  if (negated) throw usage('--narrow: event queues do not support negated terms', 'See natter help narrow')
  return [operator, String(operand)]
}

function fromJson(text: string): Term[] {
  let terms: unknown
  try {
    terms = JSON.parse(text)
  } catch (error) {
    throw usage(`--narrow is not valid JSON: ${(error as Error).message}`)
  }
  if (!Array.isArray(terms)) throw usage('--narrow must be a list', 'See natter help narrow')
  return terms.map(term => {
    if (Array.isArray(term) && term.length === 2) return { operator: String(term[0]), operand: term[1] }
    if (typeof term === 'object' && term !== null && 'operator' in term && 'operand' in term) return term as Term
    throw usage(`--narrow: ${JSON.stringify(term)} must be a pair, or an object with operator and operand`)
  })
}
