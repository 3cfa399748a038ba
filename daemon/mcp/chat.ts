// The server that tools call, as one account.

import type { Reply } from '../client/sender.ts'

export interface Request {
  readonly method: string
  /** Below /api/v1, or below /control/v1. */
  readonly path: string
  readonly params?: Readonly<Record<string, unknown>>
  readonly signal?: AbortSignal
}

export interface Chat {
  /** Where links lead. */
  readonly site: string
  /** Throws a NatterError if the server refuses. */
  call(request: Request): Promise<Reply>
  /** The control plane; absent without a token for it. */
  readonly control?: (request: Request) => Promise<Reply>
}
