// The refusal for an unexpected failure.

import { admitDefect, refuse } from './answer.ts'
import { diskRefusal } from './body.ts'
import type { ProcessLog } from './edge-parts.ts'
import type { Answering } from './exchange.ts'
import type { Incoming } from './incoming.ts'

/** An error that is neither a refusal nor one of the disk is a defect: it is logged with its stack, and the caller gets no details. */
export function crash(log: ProcessLog, error: unknown, request: Incoming, answering: Answering): void {
  const refusal = diskRefusal(error)
  if (refusal) {
    refuse(answering, refusal)
    return
  }
  log.error({ reqId: request.id, err: error, path: request.path }, 'unexpected failure')
  admitDefect(answering, request.id)
}
