// Daemons compare their states: the leader puts an entry into the log, every daemon reports in etcd what its state was at that
// entry, and one that differs from the others stops. The log alone cannot tell: it has what changes, not what is there.

import { compareOp } from '../journal/journal.ts'
import { StateDigest } from './digest.ts'
import type { Incarnation } from './incarnation.ts'
import { AnotherHistory, type Digest } from './keys.ts'
import type { View } from './membership.ts'

/** Milliseconds between two comparisons, if nothing else asks for one; and as long as one may take before the next begins. */
const compareEvery = 10 * 60_000

export class Comparison {
  /** Whether the others have not been told the newest digest yet. */
  hasNews = false
  readonly #folder: string
  /** The present incarnation. */
  readonly #life: () => Incarnation
  /** The newest of this daemon. */
  #digest: Digest | undefined
  readonly #states = new StateDigest()
  /** Ends the work on a digest that is no longer needed. */
  #working = new AbortController()
  /** When and where this daemon, as the leader, last asked for a comparison. */
  #asked: { readonly term: number; readonly position: number; readonly at: number } | undefined
  /** Daemons without a digest, which a comparison was asked for because of. */
  #awaited = new Set<string>()

  constructor(folder: string, life: () => Incarnation) {
    this.#folder = folder
    this.#life = life
  }

  /** What the others are to know. */
  report(): Digest | undefined {
    this.hasNews = false
    return this.#digest
  }

  /** Called in the turn in which the engine is at the position. */
  take(position: number): void {
    this.#working.abort()
    this.#working = new AbortController()
    this.#take(this.#life(), position, this.#working.signal).catch(() => {
      // A newer comparison has begun; or the entry was not committed, and the life has ended with it.
    })
  }

  async #take(life: Incarnation, position: number, signal: AbortSignal): Promise<void> {
    const { engine } = life.world
    const sums = await this.#states.computeSums(engine, signal)
    // Another leader may put another entry where this one was not committed.
    await engine.settled()
    if (this.#life() !== life || signal.aborted) return
    this.#digest = { position, sums }
    this.hasNews = true
  }

  /** The state of this daemon comes from another one now. */
  forget(): void {
    this.#working.abort()
    this.#digest = undefined
  }

  /** To be called often: throws when this daemon has to stop, and as the leader asks for a comparison when it is time for one. */
  look(view: View, self: string, term: number | undefined): void {
    checkStates(view, self, this.#folder)
    if (term === undefined || !this.#isTime(view, self, term)) return
    const { engine } = this.#life().world
    this.#asked = { term, position: engine.position + 1, at: performance.now() }
    engine.record(compareOp, null, []).catch(() => {
      // This daemon no longer leads. The next leader asks.
    })
  }

  #isTime({ members, head }: View, self: string, term: number): boolean {
    const own = members.find(({ id }) => id === self)
    const alike = members.filter(({ version }) => version === own?.version)
    const missing = alike.filter(({ digest }) => !digest).map(({ id }) => id)
    const hasJoined = missing.some(id => !this.#awaited.has(id))
    this.#awaited = new Set(missing)
    if (alike.length < 2) return false
    if (this.#asked?.term !== term || hasJoined) return true
    const { position, at } = this.#asked
    const waited = performance.now() - at
    const isDone = alike.every(({ digest }) => digest?.position === position)
    // A comparison that never comes to an end because the next one begins would find nothing.
    if (!isDone) return waited > compareEvery
    const hasSnapshot = (this.#life().world.engine.newestSnapshot?.position ?? 0) > position
    return hasSnapshot || (waited > compareEvery && head.position > position)
  }
}

/**
 * Throws if this daemon differs and has to stop: the smaller side does, or of two equal sides the one without the leader.
 * Decided only when all of one version have reported what they had at one position, because the next version may keep other rows.
 */
export function checkStates({ members, leader }: View, self: string, folder: string): void {
  const own = members.find(({ id }) => id === self)
  if (!own?.digest) return
  const { position, sums } = own.digest
  const sides = new Map<string, typeof members>()
  for (const member of members) {
    if (member.version !== own.version) continue
    if (member.digest?.position !== position) return
    const text = JSON.stringify(Object.entries(member.digest.sums).sort())
    sides.set(text, [...(sides.get(text) ?? []), member])
  }
  const most = Math.max(...[...sides.values()].map(side => side.length))
  const largest = [...sides.values()].filter(side => side.length === most)
  const right = largest.length === 1 ? largest[0]! : largest.find(side => side.some(({ id }) => id === leader?.id))
  if (!right || right.includes(own)) return
  const theirs = right[0]!.digest!.sums
  const sections = Object.keys({ ...sums, ...theirs }).filter(name => sums[name] !== theirs[name])
  throw new AnotherHistory(
    `at position ${position} of the log this daemon had another state than ${right.map(({ url }) => url).join(' and ')}: ` +
      `it differs in ${sections.join(', ')}. Its folder was changed or is damaged`,
    `Move ${folder} away and start natterd again: it fetches the state from the other daemons`,
  )
}
