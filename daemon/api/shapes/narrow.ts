// How messages are selected: a narrow, and a range around an anchor.

import { bool, defaulted, eitherOf, int, listOf, maybe, nullable, record, termsOf, text } from '../define.ts'

/** `{operator, operand, negated}`, or the pair `[operator, operand]`. */
export const narrowTerm = eitherOf(
  listOf(text),
  record({ operator: text, operand: eitherOf(int, listOf(int), text), negated: maybe(bool) }),
)

export const narrowParam = defaulted(
  nullable(termsOf(narrowTerm)),
  [],
  'only messages that match all these terms, such as [["channel","general"]]',
)
