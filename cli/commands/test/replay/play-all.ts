// Plays a recording from its beginning to its end, and passes every answer, and the events of every queue, to a judge.

import { note } from '../../../base/note.ts'
import type { Played, Player } from './player.ts'
import { inOrder, isCallTo, type RecordedCall, type Recording } from './recording.ts'

export interface Event {
  readonly id: number
  readonly type: string
  readonly op?: string
}

export interface Judge {
  answer(call: RecordedCall, played: Played): void
  /** Of one queue, without heartbeats; `call` is its first poll. */
  events(call: RecordedCall, recorded: readonly Event[], found: readonly Event[]): void
  /** The queue could not be read. */
  noEvents(call: RecordedCall, problem: string): void
}

export function describeCall({ method, path, user }: Pick<RecordedCall, 'method' | 'path' | 'user'>): string {
  return `${method} ${path.replace(/^\/api\/v1/, '')}${user === null ? '' : ` as ${user}`}`
}

export async function playAll(player: Player, { calls, frozen }: Recording, judge: Judge): Promise<void> {
  const isFrozen = frozen && (await player.isFrozen())
  const queues = new Map<string, RecordedCall[]>()
  for (const call of inOrder(calls)) {
    const queueId = String(call.sent.queue_id ?? '')
    // Which poll had which events depends on when the client polled; the order of the events does not.
    if (isCallTo(call, 'GET', '/events') && queueId !== '') {
      const polls = queues.get(queueId)
      if (polls) polls.push(call)
      else queues.set(queueId, [call])
      continue
    }
    const why = player.unplayable(call)
    if (why !== undefined) {
      note(`call ${call.call}, ${describeCall(call)}, is left out: ${why}`)
      continue
    }
    if (isFrozen) await player.moveTo(call.time)
    if (isCallTo(call, 'DELETE', '/events')) {
      await readQueue(player, queues.get(queueId) ?? [], judge)
      queues.delete(queueId)
    }
    const played = await player.play(call)
    player.learn(call, played)
    judge.answer(call, played)
  }
  for (const polls of queues.values()) await readQueue(player, polls, judge)
}

/** Reads as many events of the queue as all recorded polls have, and compares them. */
async function readQueue(player: Player, polls: readonly RecordedCall[], judge: Judge): Promise<void> {
  const recorded = new Map<number, Event>()
  for (const { answer } of polls) for (const event of eventsIn(answer)) recorded.set(event.id, event)
  const first = polls.find(call => !call.lost && call.status === 200 && player.unplayable(call) === undefined)
  if (!first) return
  const lasting = (events: Iterable<Event>) => [...events].filter(({ type }) => type !== 'heartbeat')
  const wanted = lasting(recorded.values())
  const found: Event[] = []
  let last = -1
  // Not to the end of the queue, which another server may never reach.
  do {
    const sent = { queue_id: String(first.sent.queue_id), last_event_id: String(last), dont_block: 'true' }
    const { answer, status } = await player.play({ ...first, sent })
    if (status !== 200) return judge.noEvents(first, `the queue: ${JSON.stringify(answer)}`)
    // A queue has each event once; a server that sends the same ones again, or heartbeats alone, would never end.
    const events = lasting(eventsIn(answer)).filter(({ id }) => id > last)
    if (events.length === 0) break
    found.push(...events)
    last = events.at(-1)!.id
  } while (found.length < wanted.length)
  // Events after the client's last poll do not count as a difference.
  judge.events(first, wanted, found.slice(0, wanted.length))
}

function eventsIn(answer: unknown): Event[] {
  const { events } = Object(answer) as { events?: Event[] }
  return Array.isArray(events) ? events.filter(event => Number.isSafeInteger(Object(event).id)) : []
}
