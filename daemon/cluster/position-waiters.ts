// Waiting until this daemon has applied the log up to a position, or up to its end.

interface Waiting {
  readonly position: number
  readonly done: (reached: boolean) => void
}

export class PositionWaiters {
  #waiting: Waiting[] = []

  /** This daemon has reached the position: resolves the waits for it and for lower ones. */
  reached(position: number): void {
    if (this.#waiting.length === 0) return
    const done = this.#waiting.filter(waiting => waiting.position <= position)
    if (done.length === 0) return
    this.#waiting = this.#waiting.filter(waiting => waiting.position > position)
    for (const waiting of done) waiting.done(true)
  }

  /** False when it takes longer than `ms`. */
  wait(position: number, ms: number): Promise<boolean> {
    return new Promise(resolve => {
      const timer = setTimeout(() => {
        this.#waiting = this.#waiting.filter(other => other !== waiting)
        resolve(false)
      }, ms)
      const waiting: Waiting = {
        position,
        done(reached) {
          clearTimeout(timer)
          resolve(reached)
        },
      }
      this.#waiting.push(waiting)
    })
  }
}

/** Waits until this daemon is at the end of the log. Calls that arrive while etcd is being asked share the next question. */
export class CatchingUp {
  readonly #reachHead: () => Promise<boolean>
  #current: Promise<boolean> | undefined
  #next: Promise<boolean> | undefined

  constructor(reachHead: () => Promise<boolean>) {
    this.#reachHead = reachHead
  }

  /** False when it takes too long, or when etcd does not answer. */
  now(): Promise<boolean> {
    this.#next ??= (this.#current ?? Promise.resolve(true)).then(() => {
      this.#current = this.#next
      this.#next = undefined
      return this.#reachHead().catch(() => false)
    })
    return this.#next
  }
}
