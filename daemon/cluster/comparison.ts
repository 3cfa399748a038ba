// Daemons compare their states: the leader puts an entry into the log, every daemon reports in etcd a digest of its state at that
// entry, and one that differs from the others stops. The log alone cannot show a difference: it has changes, not the state.

import { compareOp } from '../journal/journal.ts'
import { StateDigest } from './digest.ts'
import { AnotherHistory, type Digest, type Member } from './keys.ts'
import type { View } from './membership.ts'
import type { WorldInstance } from './world-instance.ts'

/** Milliseconds between two comparisons, and the longest that one may take before the next begins. */
const compareEvery = 10 * 60_000

export class Comparison {
  /** Whether the newest digest has still to be reported. */
  hasNews = false
  readonly #folder: string
  readonly #instance: () => WorldInstance
  /** The newest digest of this daemon. */
  #digest: Digest | undefined
  readonly #states = new StateDigest()
  /** Ends the work on a digest that is no longer needed. */
  #working = new AbortController()
  /** When and where this daemon, as the leader, last asked for a comparison. */
  #asked: { readonly term: number; readonly position: number; readonly at: number } | undefined
  /** Daemons without a digest, which a comparison was asked for because of. */
  #awaited = new Set<string>()

  constructor(folder: string, instance: () => WorldInstance) {
    this.#folder = folder
    this.#instance = instance
  }

  /** The digest that the other daemons are to read. */
  report(): Digest | undefined {
    this.hasNews = false
    return this.#digest
  }

  /** Called in the turn in which the engine is at the position. */
  take(position: number): void {
    this.#working.abort()
    this.#working = new AbortController()
    this.#take(this.#instance(), position, this.#working.signal).catch(() => {
      // A newer comparison has begun; or the entry was not committed, and the instance has ended with it.
    })
  }

  async #take(instance: WorldInstance, position: number, signal: AbortSignal): Promise<void> {
    const { engine } = instance.world
    const sums = await this.#states.computeSums(engine, signal)
    // The entry may never be committed: then the next leader puts another one at its position.
    await engine.settled()
    if (this.#instance() !== instance || signal.aborted) return
    this.#digest = { position, sums }
    this.hasNews = true
  }

  /** For a daemon whose state was replaced by the snapshot of another one. */
  forget(): void {
    this.#working.abort()
    this.#digest = undefined
  }

  /** To be called often. Throws when this daemon has to stop. At the leader, it asks for a comparison when one is due. */
  look(view: View, self: string, term: number | undefined): void {
    checkStates(view, self, this.#folder)
    if (term === undefined || !this.#isDue(view, self, term)) return
    const { engine } = this.#instance().world
    this.#asked = { term, position: engine.position + 1, at: performance.now() }
    engine.record(compareOp, null, []).catch(() => {
      // This daemon no longer leads. The next leader asks.
    })
  }

  #isDue({ members, head }: View, self: string, term: number): boolean {
    const own = members.find(({ id }) => id === self)
    const alike = members.filter(({ version }) => version === own?.version)
    const hasJoined = this.#findJoined(alike)
    if (alike.length < 2) return false
    if (this.#asked?.term !== term || hasJoined) return true
    const { position, at } = this.#asked
    const waited = performance.now() - at
    const isDone = alike.every(({ digest }) => digest?.position === position)
    // Let one come to its end: a comparison that the next one interrupts finds nothing.
    if (!isDone) return waited > compareEvery
    const hasSnapshot = (this.#instance().world.engine.newestSnapshot?.position ?? 0) > position
    return hasSnapshot || (waited > compareEvery && head.position > position)
  }

  /**
   * Whether a daemon without a digest is there for the first time. Before it has reached the last comparison it is not asked for
   * another one: it may fetch a snapshot from after both, and would have no digest until the next.
   */
  #findJoined(members: readonly Member[]): boolean {
    const last = this.#asked?.position ?? Number.POSITIVE_INFINITY
    const missing = members.filter(({ digest }) => !digest)
    const joined = missing.filter(({ id, position }) => position >= last && !this.#awaited.has(id))
    this.#awaited = new Set([...joined, ...missing.filter(({ id }) => this.#awaited.has(id))].map(({ id }) => id))
    return joined.length > 0
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
