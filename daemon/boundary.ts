// The boundary of a world. Everything in a world that runs without a caller (timers, later turns, tasks beside the traffic)
// runs inside it, so that an error there ends that world, and neither the process nor other worlds.

import { Refusal } from './domain/refusal.ts'

export type Cancel = () => void

type Work = () => unknown

/** A timer beyond 2^31 ms would fire at once. */
const longest = 0x7fffffff

/** Outside of any world: exceptions reach the process. */
const rethrow = (error: Error): never => {
  throw error
}

/** A defect of the program ended a world. Its state may differ from its journal, so it answers no more requests. */
export class Defect extends Error {
  constructor(cause: Error) {
    super(cause.message, { cause })
    this.name = 'Defect'
  }
}

export class Boundary {
  readonly #onDefect: (error: Error) => void
  #crossed = false

  /** `onDefect` is called once, with the first exception. */
  constructor(onDefect: (error: Error) => void = rethrow) {
    this.#onDefect = onDefect
  }

  /** Runs the work now. After an error nothing runs any more, because the state may be inconsistent. */
  run(work: Work): void {
    if (this.#crossed) return
    try {
      const running = work()
      if (running instanceof Promise) running.catch(error => this.fail(error))
    } catch (error) {
      this.fail(error)
    }
  }

  /** For a listener: a function that runs the work inside. */
  guard(work: Work): () => void {
    return () => this.run(work)
  }

  /** In the next turn, after requests that have arrived meanwhile. */
  nextTurn(work: Work): void {
    setImmediate(() => this.run(work))
  }

  /** Runs `work` once, after `ms` of real time. Does not keep the process alive. */
  after(ms: number, work: Work): Cancel {
    const timer = setTimeout(() => this.run(work), Math.min(Math.max(ms, 0), longest)).unref()
    // Node keeps a list for every duration, and drops it with its last timer only if that one holds the process: without `ref`, each
    // timer that is cancelled leaves 230 bytes behind for as long as it would have run.
    return () => clearTimeout(timer.ref())
  }

  /** Runs `work` every `ms` of real time. Does not keep the process alive. */
  every(ms: number, work: Work): Cancel {
    const timer = setInterval(() => this.run(work), ms).unref()
    return () => clearInterval(timer)
  }

  fail(error: unknown): void {
    // A refusal is no defect: the world has been closed, or another daemon decides.
    if (this.#crossed || error instanceof Refusal) return
    this.#crossed = true
    this.#onDefect(error instanceof Error ? error : new Error(String(error)))
  }
}

// --- refusals of a world that cannot answer --------------------------------------------------------------------

export function storeFailed(): Refusal {
  return new Refusal('The daemon cannot write its store and is stopping; see its log.', { code: 'SERVER_NOT_READY' })
}

export function endedByDefect(
  msg = 'A defect of the daemon has ended this organization, and the daemon is stopping; see its log.',
): Refusal {
  return new Refusal(msg, { code: 'SERVER_NOT_READY', status: 503 })
}

/** For calls that have changed nothing, since their world was closed. */
export function closed(msg = 'The daemon is stopping.'): Refusal {
  return new Refusal(msg, { code: 'SERVER_NOT_READY', status: 503, retryAfter: 1 })
}

/** For calls that have changed nothing. */
export function notLeading(): Refusal {
  return closed('This daemon no longer leads its cluster. Try again.')
}

export function perhapsSaved(): Refusal {
  return new Refusal(
    'This daemon no longer leads its cluster, so your change may or may not have been saved. Check before you repeat it.',
    { code: 'SERVER_NOT_READY', status: 503 },
  )
}
