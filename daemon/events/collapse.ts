// Joins changes of a flag that a client has not read yet into one event, as public servers do. A queue keeps each event by itself, so
// that a replay makes the same queue; what an answer joined is remembered until the client acknowledges it.

import collapsed from '../../data/collapsed-events.json' with { type: 'json' }
import { hasType, readEvent, writeEvent } from './event-text.ts'
import type { Pending, Queue } from './queue.ts'

const separate: ReadonlySet<string> = new Set(collapsed.except)

/** The events of an answer. Those that were answered before stay as they were. */
export function joinFlagChanges(queue: Queue, events: readonly Pending[]): readonly Pending[] {
  if (events.length < 2) return events
  findJoined(
    queue,
    events.filter(({ id }) => id > queue.delivered),
  )
  const { joined } = queue
  if (!joined) return events
  const parts = new Map<number, Pending[]>()
  const answer: Pending[] = []
  for (const event of events) {
    const last = joined.get(event.id) ?? event.id
    const group = parts.get(last) ?? []
    group.push(event)
    parts.set(last, group)
    if (last === event.id) answer.push(group.length === 1 ? event : merge(group))
  }
  return answer
}

/** After a start it is unknown which events were sent together. Assumes that all pending ones were, in one answer. */
export function assumeJoined(queue: Queue): void {
  findJoined(queue, queue.pending)
}

/** IDs of events up to this one that the client was sent with a later one, which it has not acknowledged. */
export function sentWithLater({ joined }: Queue, upTo: number): number[] | undefined {
  if (!joined) return undefined
  const kept = [...joined].filter(([id, last]) => id <= upTo && last > upTo).map(([id]) => id)
  return kept.length > 0 ? kept : undefined
}

/** Takes out of the queue what is acknowledged by this, and returns it. */
export function drop(queue: Queue, upTo: number, kept?: readonly number[]): readonly Pending[] {
  const { pending, joined } = queue
  const after = pending.findIndex(event => event.id > upTo)
  const seen = after === -1 ? pending : pending.slice(0, after)
  if (seen.length === 0) return seen
  const left = after === -1 ? [] : pending.slice(after)
  if (!kept) {
    queue.pending = left
    if (joined) for (const { id } of seen) joined.delete(id)
    if (joined?.size === 0) queue.joined = undefined
    return seen
  }
  queue.pending = [...seen.filter(({ id }) => kept.includes(id)), ...left]
  return seen.filter(({ id }) => !kept.includes(id))
}

/** Remembers which of these events belong together. */
function findJoined(queue: Queue, events: readonly Pending[]): void {
  const groups = new Map<string, number[]>()
  const close = (kind: string) => {
    const ids = groups.get(kind) ?? []
    groups.delete(kind)
    if (ids.length < 2) return
    queue.joined ??= new Map()
    for (const id of ids) queue.joined.set(id, ids.at(-1)!)
  }
  for (const { id, body } of events) {
    if (!hasType(body, collapsed.type)) continue
    const { op, flag, all } = readEvent(body)
    // OPEN: in a queue the public server joins the addition of a message flag with an earlier one even if the flag was removed in between,
    // which can leave a client with the wrong flag. Here the order of what is done to one flag is kept.
    close(`${op === 'add' ? 'remove' : 'add'}/${flag}`)
    const kind = `${op}/${flag}`
    if (all || separate.has(kind)) close(kind)
    else {
      const group = groups.get(kind) ?? []
      group.push(id)
      groups.set(kind, group)
    }
  }
  for (const kind of [...groups.keys()]) close(kind)
}

/** One event with the messages of all, under the ID of the last. */
function merge(events: readonly Pending[]): Pending {
  const bodies = events.map(({ body }) => readEvent(body))
  const messages = bodies.flatMap(body => body.messages as number[])
  return { ...events.at(-1)!, body: writeEvent({ ...bodies[0], messages }) }
}
