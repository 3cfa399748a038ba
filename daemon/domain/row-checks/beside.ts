// Shapes of rows that are beside those of the state: event queues and the store's own row in state.json, clock and uploads in a
// snapshot file.

import { bool, eitherOf, listOf, maybe, text } from '../../api/define.ts'
import {
  count,
  fileName,
  integerFrom,
  label,
  numberFrom,
  row,
  textLike,
  tuple,
  rowUserId as userId,
} from '../../api/shapes/rows.ts'
import { limits } from '../limits.ts'
import { registeredFields } from '../model/rows/queues.ts'
import { latestTime } from '../values/time.ts'

export const store = row({ secretVerifier: maybe(label), restoreId: maybe(label) })

/** ID, position, number of the text, whether it lasts, whose secrets belong into it. */
const pending = eitherOf(
  tuple(count, count, count, bool),
  tuple(count, count, count, bool, userId),
  // Before format 3 every queue had its own copy of each text.
  row({ id: count, position: count, lasting: bool, body: text, secretsOf: maybe(userId) }),
)

/** -1 before the first event. */
const idOrNone = integerFrom(-1, count.maximum!)

const queue = row({
  ...registeredFields,
  birth: integerFrom(-count.maximum!, count.maximum!),
  pending: listOf(pending),
  newest: idOrNone,
  acknowledged: idOrNone,
  position: count,
})

/** A text is an event of queues. */
export const queueRow = eitherOf(text, queue)

export const clock = eitherOf(
  row({ frozenAt: numberFrom(0, latestTime) }),
  row({ ahead: numberFrom(-latestTime, latestTime) }),
)

const longestUpload = 4 * Math.ceil((limits.fileUploadMiB * 1024 * 1024) / 3)

export const upload = row({ name: fileName, content: textLike(/^[A-Za-z0-9+/]*={0,2}$/, longestUpload) })
