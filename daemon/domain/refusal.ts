// The domain says no. Thrown by commands, turned into an error body by the edge; nothing else is expected to be thrown.

import { type ErrorCode, errorCodes } from '../api/errors.ts'

export class Refusal extends Error {
  readonly code: ErrorCode
  readonly status: number
  readonly fields: Readonly<Record<string, unknown>>
  constructor(code: ErrorCode, msg: string, fields: Readonly<Record<string, unknown>> = {}, status?: number) {
    super(msg)
    this.code = code
    this.status = status ?? errorCodes[code].status
    this.fields = fields
  }
}

/** The everyday refusal. */
export function badRequest(msg: string, fields?: Readonly<Record<string, unknown>>): Refusal {
  return new Refusal('BAD_REQUEST', msg, fields)
}

/** A personal record that does not exist, or is somebody else's: the two must look alike. */
export function noSuch(msg: string): Refusal {
  return new Refusal('BAD_REQUEST', msg, {}, 404)
}

/** For whoever comes to an organization that was deactivated. */
export function organizationGone(): Refusal {
  return new Refusal('REALM_DEACTIVATED', 'This organization has been deactivated')
}
