// Terms of a narrow in one form, whichever way they were written.

import type { RefusalKind } from '../../api/errors.ts'
import { inQuotes, invalid, Refusal } from '../refusal.ts'

export interface Term {
  readonly operator: string
  readonly operand: string | number | readonly number[]
  readonly negated: boolean
}

/** As the parameter is given. */
type GivenTerm =
  | readonly string[]
  | { readonly operator: string; readonly operand: Term['operand']; readonly negated?: boolean | undefined }

const aliases: Readonly<Record<string, string>> = {
  stream: 'channel',
  streams: 'channels',
  'pm-with': 'dm',
  pm_with: 'dm',
  group_pm_with: 'group-pm-with',
  'pm-including': 'dm-including',
  subject: 'topic',
  from: 'sender',
}

/** Operators that take an ID beside a text. */
const takingId = new Set(['channel', 'id', 'sender', 'group-pm-with', 'dm-including', 'with', 'mentions'])

export function parseTerms(given: unknown): Term[] {
  return ((given ?? []) as GivenTerm[]).map((written, index) => {
    const term = parseTerm(written, `narrow[${index}]`)
    checkOperand(term, `narrow[${index}]`)
    return term
  })
}

function parseTerm(term: GivenTerm, place: string): Term {
  if ('operator' in term) return { ...readName(term.operator), operand: term.operand, ...negation(term) }
  if (term.length !== 2) throw invalid(place, 'must be a pair of operator and operand')
  return { ...readName(term[0]!), operand: term[1]!, negated: term[0]!.startsWith('-') }
}

function checkOperand({ operator, operand }: Term, place: string): void {
  const isText = typeof operand === 'string'
  if (takingId.has(operator) && !isText && typeof operand !== 'number')
    throw invalid(place, `the operand of "${operator}" must be a text or an ID`)
  if (operator === 'dm' && !isText && typeof operand === 'number')
    throw invalid(place, 'the operand of "dm" must be a text or a list of user IDs')
  if (!takingId.has(operator) && operator !== 'dm' && !isText)
    throw invalid(place, `the operand of ${inQuotes(operator)} must be a text`)
  if (operator === 'search' && isText && operand.trim() === '')
    throw invalid(place, 'the operand of "search" cannot be blank')
}

function readName(written: string): { operator: string } {
  const operator = written.toLowerCase().replace(/^-/, '')
  return { operator: Object.hasOwn(aliases, operator) ? aliases[operator]! : operator }
}

function negation({ operator, negated }: { operator: string; negated?: boolean | undefined }): { negated: boolean } {
  return { negated: (negated ?? false) !== operator.startsWith('-') }
}

export function badNarrow(desc: string, kind: RefusalKind = 'invalid'): Refusal {
  return new Refusal(`narrow: ${desc}`, { code: 'BAD_NARROW', kind, parameter: 'narrow', fields: { desc } })
}
