// Shapes of the calls between daemons of a cluster. They are checked even though the caller has the secret: an entry that cannot be
// applied would stay in the log and stop every daemon that reads it.

import { anything, eitherOf, int, keyed, listOf, maybe, nullable, oneOf } from '../api/define.ts'
import { count, fileName, label, row, time, rowUserId as userId } from '../api/shapes/rows.ts'
import { queueRegistration } from '../domain/model/rows/queues.ts'

/** More than a daemon sends in one call. */
const most = 10_000

/** Facts of followers, which answer polls and therefore register and remove queues. */
const fact = eitherOf(
  row({ type: oneOf('queue.registered'), queue: queueRegistration }),
  row({ type: oneOf('queue.acknowledged'), queueId: label, upTo: int, kept: maybe(listOf(int)) }),
  row({ type: oneOf('queue.removed'), queueId: label, reason: oneOf('deleted', 'expired', 'overflowed') }),
)

const recordCall = row({ op: label, actor: nullable(userId), facts: listOf(fact, most) })

export const record = row({ records: listOf(recordCall, most) })

/** The endpoint checks the parameters. */
const repeatedCall = row({ endpoint: label, actor: userId, params: keyed(anything), now: time, client: label })

export const signals = row({ calls: listOf(repeatedCall, most) })

export const seen = row({ queues: listOf(label, most) })

export const keep = row({ file: fileName, from: label })

export const drop = row({ files: listOf(fileName, most), position: count })

export const snapshot = row({ position: count })

export const state = row({})
