// One call of the API for the log and the metrics: who asked for what, the answer, and how long it took. Where nobody wants to
// know, there is none, and a call costs nothing more.

export interface FinishedCall {
  readonly requestId: string
  readonly method: string
  /** Without the query, which can hold secrets. */
  readonly path: string
  /** ID of the endpoint; undefined if there is none. */
  readonly operation: string | undefined
  /** User ID of the caller; undefined if it is not known. */
  readonly account: number | undefined
  readonly status: number
  readonly milliseconds: number
  /** Whether it was a poll that waited for events: then the time says nothing about the daemon. */
  readonly waited: boolean
}

/** What proxies log for a client that went away before its answer. */
const clientGone = 499

export class ObservedCall {
  operation: string | undefined
  account: number | undefined
  waited = false
  readonly #request: { readonly id: string; readonly method: string; readonly path: string }
  readonly #finish: (call: FinishedCall) => void
  readonly #began = performance.now()
  #finished = false

  constructor(
    request: { readonly id: string; readonly method: string; readonly path: string },
    finish: (call: FinishedCall) => void,
  ) {
    this.#request = request
    this.#finish = finish
  }

  answered(status: number): void {
    if (this.#finished) return
    this.#finished = true
    const { id: requestId, method, path } = this.#request
    const { operation, account, waited } = this
    const milliseconds = performance.now() - this.#began
    this.#finish({ requestId, method, path, operation, account, status, milliseconds, waited })
  }

  closed(): void {
    this.answered(clientGone)
  }
}
