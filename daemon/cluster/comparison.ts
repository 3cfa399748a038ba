// Daemons compare their states: the leader puts an entry into the log, every daemon says in etcd what its state was at that
// entry, and one that differs from the others stops. The log alone cannot tell: it has what changes, not what is there.

import { compareOp } from '../journal/journal.ts'
import { StateDigest } from './digest.ts'
import { AnotherHistory, type Digest } from './keys.ts'
import type { Life } from './life.ts'
import type { View } from './membership.ts'

/** Milliseconds between two comparisons, if nothing else asks for one. */
const compareEvery = 10 * 60_000

export class Comparison {
  /** Whether there is something that the others were not told. */
  hasNews = false
  readonly #folder: string
  /** The life of now. */
  readonly #life: () => Life
  /** The newest of this daemon. */
  #digest: Digest | undefined
  readonly #states = new StateDigest()
  /** When and where this daemon, as the leader, last asked for a comparison. */
  #asked: { readonly term: number; readonly position: number; readonly at: number } | undefined
  /** Daemons without a digest that a comparison was asked for because of. */
  #awaited = new Set<string>()

  constructor(folder: string, life: () => Life) {
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
    const life = this.#life()
    this.#take(life, position).catch(() => {
      // The entry was not committed, and the life has ended with it.
    })
  }

  async #take(life: Life, position: number): Promise<void> {
    const { engine } = life.world
    const sums = await this.#states.sumsOf(engine)
    // Another leader may put another entry where this one was not committed.
    await engine.settled()
    if (this.#life() !== life || position <= (this.#digest?.position ?? 0)) return
    this.#digest = { position, sums }
    this.hasNews = true
  }

  /** What this daemon has comes from another one now. */
  forget(): void {
    this.#digest = undefined
  }

  /** To be called often: throws when this daemon has to stop, and as the leader asks for a comparison when it is time for one. */
  look(view: View, self: string, term: number | undefined): void {
    checkStates(view, self, this.#folder)
    if (term !== undefined) this.#ask(view, term)
  }

  #ask({ members, head }: View, term: number): void {
    const { engine } = this.#life().world
    const missing = members.filter(({ digest }) => !digest).map(({ id }) => id)
    const isNew = missing.some(id => !this.#awaited.has(id))
    this.#awaited = new Set(missing)
    if (members.length < 2) return
    const last = this.#asked?.term === term ? this.#asked : undefined
    const hasSnapshot = last && (engine.newestSnapshot?.position ?? 0) > last.position
    const isTime = last && performance.now() - last.at > compareEvery
    const isDue = hasSnapshot || (isTime && members.some(({ digest }) => digest?.position !== head.position))
    if (last && !isNew && !isDue) return
    this.#asked = { term, position: engine.position + 1, at: performance.now() }
    engine.record(compareOp, null, []).catch(() => {
      // This daemon no longer leads. The next leader asks.
    })
  }
}

/**
 * Throws if this daemon differs and has to stop: those that are fewer do, or of two equal sides the one without the leader.
 * Decided only when all of one version have said what they had at one position, because the next version may keep other rows.
 */
export function checkStates({ members, leader }: View, self: string, folder: string): void {
  const own = members.find(({ id }) => id === self)
  if (!own?.digest) return
  const { position, sums } = own.digest
  const sides = new Map<string, typeof members>()
  for (const member of members) {
    if (member.version !== own.version) continue
    if (member.digest?.position !== position) return
    const text = JSON.stringify(member.digest.sums)
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
