// Event IDs of a queue: (position - birth) * step + n, where n counts what the queue received at that position. The IDs
// of lasting events follow from the journal alone, so a restart or another replica gives them again.

/** Far enough for the signals between two entries, and small enough that IDs stay below 2^31 for 21 million entries. */
export const idStep = 100
/** The step of queues that were registered by version 0.1.0. */
const firstStep = 10_000
/** Many clients keep IDs in 32 bits. */
const largestId = 2 ** 31 - 1

interface Numbering {
  /** Absent: `firstStep`. */
  readonly step?: number
  /** The position that IDs are counted from: that of the registration, or less when entries needed more IDs. */
  birth: number
  /** Highest ID ever given out. */
  newest: number
}

/** Gives out the next ID at the position. */
export function takeId(queue: Numbering, position: number, lasting: boolean): number {
  const step = queue.step ?? firstStep
  queue.newest = Math.max(queue.newest + 1, (position - queue.birth) * step)
  // An entry with more events than a step has IDs moves all later positions up. Only lasting events may do that: others
  // are forgotten by a crash, and IDs after them would come again.
  if (lasting) queue.birth = Math.min(queue.birth, position - Math.floor((queue.newest + 2) / step))
  return queue.newest
}

/** The position that an ID belongs to. */
export function positionOf(queue: Numbering, id: number): number {
  return queue.birth + Math.floor(id / (queue.step ?? firstStep))
}

/** Whether there are IDs for the signals at this position; one more is kept for a heartbeat. */
export function hasRoom(queue: Numbering, position: number, signals: number): boolean {
  return queue.newest + signals + 1 < (position - queue.birth + 1) * (queue.step ?? firstStep)
}

/** IDs go on at the position: those given out before it may have been forgotten, and must not come again. */
export function skipTo(queue: Numbering, position: number): void {
  queue.newest = Math.max(queue.newest, (position - queue.birth) * (queue.step ?? firstStep) - 1)
}

/** Whether the queue should end before an ID needs more than 32 bits. */
export function isUsedUp(queue: Numbering): boolean {
  return queue.step !== undefined && queue.newest + 10 * queue.step > largestId
}
