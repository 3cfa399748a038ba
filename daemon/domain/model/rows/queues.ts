// Rows of event queues, as far as they are settled when a queue is registered.

import { bool, listOf, maybe, nullable, oneOf } from '../../../api/define.ts'
import {
  count,
  integerFrom,
  label,
  longText,
  type RowOf,
  row,
  time,
  tuple,
  rowUserId as userId,
} from '../../../api/shapes/rows.ts'

/**
 * Whose names and habits a caller knows: those of the spec, or those of public servers of the API family. A caller that is not known
 * gets the habits of the spec, and `both` names.
 */
const dialect = oneOf('spec', 'zulip', 'both')
export type Dialect = RowOf<typeof dialect>

export const registeredFields = {
  id: label,
  userId,
  /** null: all types. */
  eventTypes: nullable(listOf(label)),
  capabilities: listOf(label),
  /** Milliseconds without a poll after which it expires. */
  lifespan: time,
  narrow: listOf(tuple(longText, longText)),
  allPublicStreams: bool,
  applyMarkdown: bool,
  clientGravatar: bool,
  slimPresence: bool,
  includeSubscribers: oneOf('true', 'false', 'partial'),
  /** How far apart the event IDs of two positions are; absent in queues of version 0.1.0. */
  step: maybe(integerFrom(1, 10_000)),
  /** Name of the program that registered it; absent in queues of version 0.1.0. */
  clientName: maybe(label),
  /** What the registration was answered in, and so its events; absent in queues of version 0.1.0. */
  dialect: maybe(dialect),
  /** The feature level at which the registration was answered, and so its events; absent in queues of version 0.1.0. */
  level: maybe(count),
}
export const queueRegistration = row(registeredFields)
export type QueueRegistration = RowOf<typeof queueRegistration>
