// Bounds how many calls run at a time, for each key (an account) and for all together. Further calls wait, and waiting keys are
// served in turn, so that neither one account nor a few of them can keep the others from the leader. What waits is bounded too.

import { Refusal } from '../domain/refusal.ts'

/** Calls of one key that wait for their turn. */
const mostWaiting = 1000
/** Bytes that calls hold in memory while they wait: those of one key, and of all. */
export const mostBytesOfKey = 16 * 1024 * 1024
const mostBytesOfAll = 256 * 1024 * 1024
/** Milliseconds that a call waits for its turn: behind a leader that does not answer, turns take long. */
const longestWait = 10_000

interface Own {
  running: number
  /** What its calls that wait hold in memory. */
  bytes: number
  readonly waiting: (() => void)[]
}

export class FairLimit {
  readonly #most: number
  readonly #mostOfAll: number
  /** In the order in which they are served next. */
  readonly #keys = new Map<unknown, Own>()
  readonly #longestWait: number
  #running = 0
  #bytes = 0

  constructor(most: number, mostOfAll = most, waitMs = longestWait) {
    this.#most = most
    this.#mostOfAll = mostOfAll
    this.#longestWait = waitMs
  }

  /** Runs the work, which holds that many bytes in memory, when it is its turn. */
  async run<T>(key: unknown, bytes: number, work: () => Promise<T>): Promise<T> {
    const own = this.#keys.get(key) ?? { running: 0, bytes: 0, waiting: [] }
    this.#keys.set(key, own)
    if (own.waiting.length >= mostWaiting) throw busy()
    await this.#turn(key, own, bytes)
    try {
      return await work()
    } finally {
      own.running--
      this.#running--
      if (own.running === 0 && own.waiting.length === 0) this.#keys.delete(key)
      this.#serve()
    }
  }

  #turn(key: unknown, own: Own, bytes: number): Promise<void> {
    return new Promise((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined
      const hold = (more: number) => {
        own.bytes += more
        this.#bytes += more
      }
      const begin = () => {
        clearTimeout(timer)
        hold(-bytes)
        resolve()
      }
      const refuse = () => {
        own.waiting.splice(own.waiting.indexOf(begin), 1)
        hold(-bytes)
        if (own.running === 0 && own.waiting.length === 0) this.#keys.delete(key)
        reject(busy())
      }
      hold(bytes)
      own.waiting.push(begin)
      this.#serve()
      if (own.waiting.at(-1) !== begin) return
      if (own.bytes > mostBytesOfKey || this.#bytes > mostBytesOfAll) return refuse()
      timer = setTimeout(refuse, this.#longestWait).unref()
    })
  }

  #serve(): void {
    for (const [key, own] of this.#keys) {
      if (this.#running >= this.#mostOfAll) return
      if (own.running >= this.#most || own.waiting.length === 0) continue
      own.running++
      this.#running++
      own.waiting.shift()!()
      this.#keys.delete(key)
      // The loop comes to it again, after the others.
      this.#keys.set(key, own)
    }
  }
}

function busy(): Refusal {
  return new Refusal('Too many of these calls wait for the leader of the cluster. Try again in a moment.', {
    code: 'SERVER_BUSY',
  })
}
