// Calls between daemons beside the log, each for many items: facts that a follower has for the leader, signals that the
// leader has for the others, and whether queues are still in use.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Fact } from '../domain/facts.ts'
import { Refusal } from '../domain/refusal.ts'
import { usualBounds } from '../http/bounds.ts'
import type { RepeatedCall } from '../http/exchange.ts'
import { leaderUnreached, wasNeverSent } from './forwarding.ts'
import { leaderTimeout } from './known-cluster.ts'
import { PeerRefused, type Peers } from './peers.ts'

/** Items in one call, and their bytes: the body stays below the bound of the server. */
const mostTogether = 100
const mostBytes = usualBounds.bodyBytes / 2

/** Takes the items that go with the next call out of the list; at least one. */
function takeNext<T>(items: T[]): T[] {
  let bytes = 0
  const end = items.slice(0, mostTogether).findIndex(item => {
    bytes += Buffer.byteLength(JSON.stringify(item))
    return bytes > mostBytes
  })
  return items.splice(0, end === -1 ? mostTogether : Math.max(1, end))
}

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
      const batch = takeNext(this.#waiting)
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
    const end = performance.now() + leaderTimeout
    for (;;) {
      const url = await this.#leader()
      if (url === undefined) throw notReady()
      try {
        return (await this.#peers.post(url, '/record', { records }, leaderTimeout)).position
      } catch (error) {
        // A daemon that does not lead answers 409 and has recorded nothing.
        const mayBeRecorded = !wasNeverSent(error as Error) && !(error instanceof PeerRefused && error.status === 409)
        if (mayBeRecorded || performance.now() > end) throw error
        await sleep(100)
      }
    }
  }
}

function notReady(): Refusal {
  return new Refusal(leaderUnreached, {
    code: 'SERVER_NOT_READY',
    status: 503,
  })
}

/** Milliseconds that items are gathered. */
const gatherMs = 10

/** Gathers items for a moment, and sends them together, with as few calls as can take them. */
export function gather<T>(send: (items: readonly T[]) => void): (items: readonly T[]) => void {
  let gathered: T[] = []
  const sendAll = () => {
    const all = gathered
    gathered = []
    while (all.length > 0) send(takeNext(all))
  }
  return items => {
    if (gathered.length === 0) setTimeout(sendAll, gatherMs)
    gathered.push(...items)
  }
}

/** Sends signals to the other daemons, best effort: those that do not arrive are lost. */
export function signalSender(peers: Peers, others: () => readonly string[]): (call: RepeatedCall) => void {
  const add = gather<RepeatedCall>(calls => {
    for (const url of others()) peers.post(url, '/signals', { calls }).catch(() => {})
  })
  return call => add([call])
}

/** For queues that no client polls at this daemon: asks the other daemons which of them are polled there. */
export function idleQueues(
  peers: Peers,
  others: () => readonly string[],
  judge: (ids: readonly string[], inUse: ReadonlySet<string>) => void,
): (ids: readonly string[]) => void {
  return gather<string>(async queues => {
    const answers = await Promise.all(
      others().map(url =>
        // Their clients may poll the daemon that cannot be asked.
        peers.post(url, '/seen', { queues }).then(
          ({ inUse }) => inUse as string[],
          () => queues,
        ),
      ),
    )
    judge(queues, new Set(answers.flat()))
  })
}
