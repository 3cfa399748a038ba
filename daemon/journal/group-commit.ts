// Gathers lines while the disk is busy and sends them together: one write and one sync however many wait.

/** Entries that go to disk together, and the promise that they share. */
interface Batch {
  text: string
  readonly durable: Promise<void>
  readonly resolve: () => void
  readonly reject: (error: Error) => void
}

export class GroupCommit {
  readonly #write: (text: string) => Promise<void>
  /** What comes before the gathering batch, in order. Only one thing touches the files at a time. */
  readonly #jobs: (() => Promise<void>)[] = []
  #gathering: Batch | undefined
  #running = false
  #failure: Error | undefined

  constructor(write: (text: string) => Promise<void>) {
    this.#write = write
  }

  /** Once set, nothing is written any more and everything is refused with it. */
  get failure(): Error | undefined {
    return this.#failure
  }

  fail(error: Error): void {
    this.#failure ??= error
  }

  /** Settles when the text is on disk. */
  add(text: string): Promise<void> {
    if (!this.#gathering) {
      this.#gathering = newBatch()
      this.#wake()
    }
    this.#gathering.text += text
    return this.#gathering.durable
  }

  /** Runs the job after everything added before it and before everything added later. */
  async inOrder<T>(job: () => Promise<T>): Promise<T> {
    const batch = this.#gathering
    this.#gathering = undefined
    return new Promise((resolve, reject) => {
      if (batch) this.#jobs.push(() => this.#flush(batch))
      this.#jobs.push(() => job().then(resolve, reject))
      this.#wake()
    })
  }

  // After the turn, not within it: a burst of requests read from many sockets in one turn goes together. Starting sooner
  // was measured to be no faster for one client (the sync dwarfs it) and gathers no more at 64.
  #wake(): void {
    if (this.#running) return
    this.#running = true
    setImmediate(() => this.#run())
  }

  async #run(): Promise<void> {
    for (;;) {
      const job = this.#jobs.shift()
      if (job) await job()
      else if (this.#gathering) {
        const batch = this.#gathering
        this.#gathering = undefined
        await this.#flush(batch)
      } else break
    }
    this.#running = false
  }

  async #flush(batch: Batch): Promise<void> {
    try {
      if (this.#failure) throw this.#failure
      await this.#write(batch.text)
      batch.resolve()
    } catch (error) {
      this.fail(error as Error)
      batch.reject(error as Error)
    }
  }
}

function newBatch(): Batch {
  let resolve!: () => void
  let reject!: (error: Error) => void
  const durable = new Promise<void>((yes, no) => {
    resolve = yes
    reject = no
  })
  // A caller that does not wait for the disk must not end the daemon when the disk fails.
  durable.catch(() => {})
  return { text: '', durable, resolve, reject }
}
