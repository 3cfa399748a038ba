// One call of the API for the log and the metrics: account, endpoint, answer and duration. Without log and
// metrics there is none, so that a call costs nothing more.

import { monotonicMs } from '../local/monotonic.ts'

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

/** The status that proxies log for a client that closed the connection before its answer. */
const clientGone = 499

export class ObservedCall implements FinishedCall {
  readonly requestId: string
  readonly method: string
  readonly path: string
  operation: string | undefined
  account: number | undefined
  /** 0 until there is an answer. */
  status = 0
  milliseconds = 0
  waited = false
  readonly #finish: (call: FinishedCall) => void
  readonly #began = monotonicMs()

  constructor(
    { id, method, path }: { readonly id: string; readonly method: string; readonly path: string },
    finish: (call: FinishedCall) => void,
  ) {
    this.requestId = id
    this.method = method
    this.path = path
    this.#finish = finish
  }

  answered(status: number): void {
    if (this.status !== 0) return
    this.status = status
    this.milliseconds = monotonicMs() - this.#began
    this.#finish(this)
  }

  /** For a call that is not answered immediately: its client may close the connection before. */
  await(response: { once(event: 'close', listener: () => void): unknown }): void {
    if (this.status === 0) response.once('close', () => this.answered(clientGone))
  }
}
