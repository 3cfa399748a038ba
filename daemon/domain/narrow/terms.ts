// Terms of a narrow in one form, whichever way they were written.

import type { RefusalKind } from '../../api/errors.ts'
import { invalid, Refusal } from '../refusal.ts'

export interface Term {
  readonly operator: string
  readonly operand: string | number | readonly number[]
  readonly negated: boolean
}

/** As the parameter is given. */
export type GivenTerm =
  | readonly string[]
  | { readonly operator: string; readonly operand: Term['operand']; readonly negated?: boolean | undefined }

const aliases: Readonly<Record<string, string>> = {
  stream: 'channel',
  streams: 'channels',
  'pm-with': 'dm',
  'pm-including': 'dm-including',
  subject: 'topic',
  from: 'sender',
}

export function termsOf(given: unknown): Term[] {
  return ((given ?? []) as GivenTerm[]).map((term, index) => {
    if ('operator' in term) return { ...named(term.operator), operand: term.operand, ...negation(term) }
    if (term.length !== 2) throw invalid(`narrow[${index}]`, 'must be a pair of operator and operand')
    return { ...named(term[0]!), operand: term[1]!, negated: term[0]!.startsWith('-') }
  })
}

function named(written: string): { operator: string } {
  const operator = written.toLowerCase().replace(/^-/, '')
  return { operator: Object.hasOwn(aliases, operator) ? aliases[operator]! : operator }
}

function negation({ operator, negated }: { operator: string; negated?: boolean | undefined }): { negated: boolean } {
  return { negated: (negated ?? false) !== operator.startsWith('-') }
}

export function badNarrow(desc: string, kind: RefusalKind = 'invalid'): Refusal {
  return new Refusal(`narrow: ${desc}`, { code: 'BAD_NARROW', kind, parameter: 'narrow', fields: { desc } })
}
