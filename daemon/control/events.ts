// The log of events: everything that was announced, in its fullest form, whether or not anyone had a queue for it.

import { capabilities } from '../api/capabilities.ts'
import type { Level } from '../api/levels/level.ts'
import type { Boundary } from '../boundary.ts'
import type { Announcement, Client } from '../domain/resource.ts'
import { Adapter, buildClient } from '../events/adapt.ts'
import { readEvent } from '../events/event-text.ts'
import { Recent } from './recent.ts'

export interface LoggedEvent {
  readonly id: number
  /** Milliseconds, by the daemon's clock. */
  readonly time: number
  /** User IDs of the recipients. */
  readonly to: readonly number[]
  /** Position in the journal. */
  readonly position: number
  /** IDs of the queues it was put into, the first hundred. */
  readonly queues: readonly string[]
  readonly event: Readonly<Record<string, unknown>>
}

const kept = 1000
/** Characters of their JSON; a recipient counts as one of them. */
const mostCharacters = 4 * 1024 * 1024

/** A client that wants everything, and texts as they were written. */
const everything = {
  eventTypes: null,
  capabilities: Object.keys(capabilities),
  lifespan: 0,
  narrow: [],
  allPublicStreams: false,
  applyMarkdown: false,
  clientGravatar: false,
  slimPresence: false,
  includeSubscribers: 'true',
} as const

export class Events extends Recent<LoggedEvent> {
  readonly #now: () => number

  readonly #level: () => Level
  #everything: Client | undefined

  constructor(now: () => number, level: () => Level, boundary: Boundary) {
    super(kept, boundary, mostCharacters)
    this.#now = now
    this.#level = level
  }

  log(announcement: Announcement, position: number, queues: readonly string[]): void {
    const to = [...announcement.to]
    if (to.length === 0) return
    // Fields that differ from person to person are those of the first.
    for (const text of new Adapter(announcement).textsFor(this.#client(), to[0]!)) {
      const event = readEvent(text)
      const logged = this.add(id => ({ id, time: this.#now(), to, position, queues, event }), text.length + to.length)
      this.tell(logged)
    }
  }

  #client(): Client {
    const level = this.#level()
    if (this.#everything?.level !== level) this.#everything = buildClient({ ...everything, level: level.number })
    return this.#everything
  }
}
