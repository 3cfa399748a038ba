// Shapes that select messages: a narrow, and a range around an anchor.

import { bool, defaulted, eitherOf, int, listOf, maybe, nullable, record, termsOf, textUpTo } from '../define.ts'

/** A search has at most this many characters; names are shorter. */
const operand = textUpTo(1000)

/** `{operator, operand, negated}`, or the pair `[operator, operand]`. */
export const narrowTerm = eitherOf(
  listOf(operand, 10),
  record({ operator: textUpTo(100), operand: eitherOf(int, listOf(int, 1000), operand), negated: maybe(bool) }),
)

/** Operators, and operands of `is`, that have newer names. */
export const olderTerms = { 'pm-with': 'dm', 'group-pm-with': 'dm-including', 'is:private': 'is:dm' }

export const narrowParam = defaulted(
  nullable(termsOf(narrowTerm)),
  [],
  'only messages that match all these terms, such as [["channel","general"]]',
  { deprecatedWords: olderTerms },
)
