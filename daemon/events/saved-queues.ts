// The queues in a snapshot: the text of an event once, before the first queue that waits for it, however many do.

import type { EventText } from './event-text.ts'
import type { Pending, Queue, Unsaved } from './queue.ts'

type SavedQueue = Omit<Queue, Unsaved>

/** ID, position, number of the text among the rows that are texts, whether it lasts, whose secrets belong into it. */
type PendingRow = readonly [id: number, position: number, text: number, lasting: boolean, secretsOf?: number]

/** The rows of a snapshot: texts of events, and queues that refer to them by number. */
export function* rowsOfQueues(queues: readonly SavedQueue[]): Generator<unknown> {
  const numbers = new Map<EventText, number>()
  for (const { pending, ...queue } of queues) {
    for (const { body } of pending)
      if (!numbers.has(body)) {
        numbers.set(body, numbers.size)
        yield body
      }
    yield { ...queue, pending: pending.map(event => writeRow(event, numbers.get(event.body)!)) }
  }
}

/** Reads rows of any format. In the first two every queue had its own copy of each text. */
export function* queuesOfRows(rows: Iterable<unknown>): Generator<SavedQueue> {
  const texts: EventText[] = []
  const known = new Map<EventText, EventText>()
  for (const row of rows) {
    if (typeof row === 'string') texts.push(row as EventText)
    else {
      const { pending, ...queue } = row as Omit<SavedQueue, 'pending'> & { pending: (PendingRow | Pending)[] }
      yield {
        ...queue,
        pending: pending.map(event => ('body' in event ? share(event, known) : readPending(event, texts))),
      }
    }
  }
}

function writeRow({ id, position, lasting, secretsOf }: Pending, text: number): PendingRow {
  return secretsOf === undefined ? [id, position, text, lasting] : [id, position, text, lasting, secretsOf]
}

function readPending([id, position, text, lasting, secretsOf]: PendingRow, texts: readonly EventText[]): Pending {
  const body = texts[text]
  if (body === undefined) throw new Error(`state.json: a queue refers to event text ${text}, which is missing`)
  return secretsOf === undefined ? { id, position, lasting, body } : { id, position, lasting, body, secretsOf }
}

function share(event: Pending, known: Map<EventText, EventText>): Pending {
  const body = known.get(event.body)
  if (body === undefined) known.set(event.body, event.body)
  return body === undefined ? event : { ...event, body }
}
