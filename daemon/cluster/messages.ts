// Messages between daemons beside the log, gathered so that many make one call: facts that a follower has for the
// leader, signals that the leader has for the others, and whether a queue is still in use.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Fact } from '../domain/facts.ts'
import { Refusal } from '../domain/refusal.ts'
import type { RepeatedCall } from '../http/exchange.ts'
import { codeOf, neverSent } from './forwarding.ts'
import { PeerRefused, type Peers } from './peers.ts'

/** Items in one call, so that its body stays below the bound of the server. */
const mostTogether = 300
/** Milliseconds in which a leader must be found that takes the facts. */
const patience = 10_000

interface RecordCall {
  readonly op: string
  readonly actor: number | null
  readonly facts: readonly Fact[]
}

interface Waiting extends RecordCall {
  readonly resolve: () => void
  readonly reject: (error: Error) => void
}

/** Sends facts to the leader. Facts that arrive during one call go with the next. */
export class Recorder {
  readonly #peers: Peers
  readonly #leader: () => Promise<string | undefined>
  readonly #reach: (position: number) => Promise<boolean>
  #waiting: Waiting[] = []
  #running = false

  constructor(peers: Peers, leader: () => Promise<string | undefined>, reach: (position: number) => Promise<boolean>) {
    this.#peers = peers
    this.#leader = leader
    this.#reach = reach
  }

  /** Resolves when the leader has recorded them and this daemon has them too. */
  record(call: RecordCall): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ ...call, resolve, reject })
      if (!this.#running) {
        this.#running = true
        setImmediate(() => void this.#run())
      }
    })
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, mostTogether)
      try {
        const position = await this.#send(batch.map(({ op, actor, facts }) => ({ op, actor, facts })))
        // The next call need not wait until this daemon has the entries.
        void this.#reach(position).then(there => {
          for (const { resolve, reject } of batch) there ? resolve() : reject(notReady())
        })
      } catch {
        // Facts that arrived meanwhile are refused too: otherwise each would wait as long for the same leader.
        for (const { reject } of [...batch, ...this.#waiting.splice(0)]) reject(notReady())
      }
    }
    this.#running = false
  }

  async #send(records: readonly RecordCall[]): Promise<number> {
    const end = performance.now() + patience
    for (;;) {
      const url = await this.#leader()
      if (url === undefined) throw notReady()
      try {
        return (await this.#peers.post(url, '/record', { records }, patience)).position
      } catch (error) {
        // A daemon that does not lead answers 409 and has recorded nothing.
        const mayBeRecorded =
          !neverSent.has(codeOf(error as Error)) && !(error instanceof PeerRefused && error.status === 409)
        if (mayBeRecorded || performance.now() > end) throw error
        await sleep(100)
      }
    }
  }
}

function notReady(): Refusal {
  return new Refusal('The leader of the cluster cannot be reached at the moment. Try again in a few seconds.', {
    code: 'SERVER_NOT_READY',
    status: 503,
  })
}

/** Milliseconds that signals gather. */
const gatherMs = 10

/** Sends signals to the other daemons, best effort: signals beyond the bound, or that do not arrive, are lost. */
export class SignalSender {
  readonly #peers: Peers
  readonly #others: () => readonly string[]
  #calls: RepeatedCall[] = []
  #timer: NodeJS.Timeout | undefined

  constructor(peers: Peers, others: () => readonly string[]) {
    this.#peers = peers
    this.#others = others
  }

  send(call: RepeatedCall): void {
    if (this.#calls.length < mostTogether) this.#calls.push(call)
    this.#timer ??= setTimeout(() => {
      const calls = this.#calls
      this.#calls = []
      this.#timer = undefined
      for (const url of this.#others()) this.#peers.post(url, '/signals', { calls }).catch(() => {})
    }, gatherMs)
  }
}

/** Queues that no client polls at this daemon. Before they are removed, the other daemons are asked for their polls. */
export class IdleQueues {
  readonly #peers: Peers
  readonly #others: () => readonly string[]
  readonly #judge: (ids: readonly string[], inUse: ReadonlySet<string>) => void
  #ids: string[] = []
  #timer: NodeJS.Timeout | undefined

  constructor(
    peers: Peers,
    others: () => readonly string[],
    judge: (ids: readonly string[], inUse: ReadonlySet<string>) => void,
  ) {
    this.#peers = peers
    this.#others = others
    this.#judge = judge
  }

  add(ids: readonly string[]): void {
    this.#ids.push(...ids)
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      void this.#ask(this.#ids.splice(0, mostTogether))
      if (this.#ids.length > 0) this.add([])
    }, gatherMs)
  }

  async #ask(queues: readonly string[]): Promise<void> {
    const answers = await Promise.all(
      this.#others().map(url =>
        // Their clients may poll the daemon that cannot be asked.
        this.#peers.post(url, '/seen', { queues }).then(
          ({ inUse }) => inUse as string[],
          () => queues,
        ),
      ),
    )
    this.#judge(queues, new Set(answers.flat()))
  }
}
