// Failures of the command line and their exit codes, and how they are printed: a sentence and a hint, never a stack trace.

import { guessKind, kindHeader, parameterHeader, type RefusalKind, refusalKinds } from '../../daemon/api/errors.ts'
import { harmlessJson } from '../../daemon/local/harmless.ts'
import { type FlatHeaders, headerIn } from './headers.ts'
import { printError } from './writer.ts'
export const exitCodes = {
  done: 0,
  refused: 1,
  usage: 2,
  notFound: 3,
  denied: 4,
  unreachable: 6,
  rateLimited: 7,
  unmet: 8,
  cannotRun: 126,
  noSuchCommand: 127,
  hungUp: 129,
  interrupted: 130,
  terminated: 143,
} as const

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

interface Details {
  /** The API's own code, or one of ours in the same style. */
  readonly code?: string
  readonly http?: number | null
  /** Of a refusal by the API. */
  readonly kind?: RefusalKind | undefined
  /** The API's name of the parameter that is wrong. */
  readonly parameter?: string | undefined
  /** What to do about it, as a sentence or a line to copy. */
  readonly hint?: string | undefined
  /** Seconds that the server asks to wait before the next attempt. */
  readonly retryAfter?: number | undefined
  /** What made it fail; not shown. */
  readonly cause?: unknown
}

export class Failure extends Error {
  readonly exit: ExitCode
  readonly code: string
  readonly http: number | null
  readonly kind: RefusalKind | undefined
  readonly parameter: string | undefined
  readonly hint: string | undefined
  readonly retryAfter: number | undefined

  constructor(exit: ExitCode, message: string, details: Details = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.exit = exit
    this.code = details.code ?? codeFor[exit]
    this.http = details.http ?? null
    this.kind = details.kind
    this.parameter = details.parameter
    this.hint = details.hint
    this.retryAfter = details.retryAfter
  }
}

/** A class of its own, so that a wait for a daemon can go on until the file exists. */
export class AbsentReadyFile extends Failure {
  constructor(message: string, hint: string) {
    super(exitCodes.usage, message, { hint })
  }
}

/** Ends the run with a code when everything worth saying has been printed. */
export class Ending extends Error {
  readonly exit: number

  constructor(exit: number) {
    super(`exit ${exit}`)
    this.exit = exit
  }
}

export function usage(message: string, hint?: string): Failure {
  return new Failure(exitCodes.usage, message, { hint })
}

/** The same, with something to do about it. */
export function addHint(failure: Failure, hint: string): Failure {
  return new Failure(failure.exit, failure.message, { ...failure, hint })
}

/** For an answer with an error body or an error status. */
export function refusal(http: number, body: Readonly<Record<string, unknown>>, headers: FlatHeaders = []): Failure {
  const code = typeof body.code === 'string' ? body.code : `HTTP_${http}`
  const message = typeof body.msg === 'string' && body.msg !== '' ? body.msg : `the server answered ${http}`
  const kind = kindIn(headers) ?? guessKind(http, code)
  const parameter = headerIn(headers, parameterHeader)
  const seconds = Number(headerIn(headers, 'retry-after'))
  const retryAfter = Number.isFinite(seconds) ? seconds : undefined
  return new Failure(exitFor[kind], message, { code, http, kind, parameter, retryAfter, hint: hintFor(code) })
}

/** Other servers of the API family do not send it, and newer ones may send a kind that is not known here. */
function kindIn(headers: FlatHeaders): RefusalKind | undefined {
  const kind = headerIn(headers, kindHeader)
  return kind !== undefined && Object.hasOwn(refusalKinds, kind) ? (kind as RefusalKind) : undefined
}

const exitFor: Readonly<Record<RefusalKind, ExitCode>> = {
  invalid: exitCodes.refused,
  conflict: exitCodes.refused,
  'not-found': exitCodes.notFound,
  forbidden: exitCodes.denied,
  unauthenticated: exitCodes.denied,
  'rate-limited': exitCodes.rateLimited,
  unavailable: exitCodes.unreachable,
  defect: exitCodes.refused,
}

/** Prints for people, or as one JSON line. The exit code is the same. */
export function report(failure: Failure, json: boolean): void {
  const { code, message, http, exit, hint } = failure
  if (json) printError(`${harmlessJson(JSON.stringify({ error: { code, msg: message, http, exit, hint } }))}\n`)
  else {
    const label = http === null ? '' : ` (${code})`
    printError(`natter: ${message}${label}\n${hint ? `  ${hint}\n` : ''}`)
  }
}

const codeFor: Readonly<Record<ExitCode, string>> = {
  0: 'DONE',
  1: 'FAILED',
  2: 'USAGE',
  3: 'NOT_FOUND',
  4: 'NOT_AUTHENTICATED',
  6: 'UNREACHABLE',
  7: 'RATE_LIMIT_HIT',
  8: 'TIMED_OUT',
  126: 'CANNOT_RUN',
  127: 'NO_SUCH_COMMAND',
  129: 'HUNG_UP',
  130: 'INTERRUPTED',
  143: 'TERMINATED',
}

function hintFor(code: string): string | undefined {
  if (code === 'INVALID_API_KEY' || code === 'UNAUTHORIZED')
    return '`natter config explain`, with the same flags, shows which account and key these are.'
  if (code === 'USER_DEACTIVATED')
    return '`natter config explain` shows which account this is, `natter profile use NAME` takes another.'
  if (code === 'BAD_NARROW') return '`natter help narrow` lists the terms.'
  if (code === 'RATE_LIMIT_HIT') return 'Add --retry 3 to wait and try again.'
  return undefined
}
