// Waiting until this daemon has come to a position of the log.

interface Waiting {
  readonly position: number
  readonly done: (reached: boolean) => void
}

export class Positions {
  #waiting: Waiting[] = []

  /** This daemon is at the position: those who wait for it, or less, go on. */
  reached(position: number): void {
    if (this.#waiting.length === 0) return
    const done = this.#waiting.filter(waiting => waiting.position <= position)
    if (done.length === 0) return
    this.#waiting = this.#waiting.filter(waiting => waiting.position > position)
    for (const waiting of done) waiting.done(true)
  }

  /** False when it takes longer than so many milliseconds. */
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
