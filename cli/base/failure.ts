// What can go wrong on the command line, and the exit code each kind of trouble has. Nothing here prints a stack.

export const exitCodes = {
  done: 0,
  refused: 1,
  usage: 2,
  notFound: 3,
  denied: 4,
  unreachable: 6,
  rateLimited: 7,
  unmet: 8,
  interrupted: 130,
  terminated: 143,
} as const

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

interface Circumstances {
  /** The API's own code, or one of ours in the same style. */
  readonly code?: string
  readonly http?: number
  /** What to do about it, as a sentence or a line to copy. */
  readonly hint?: string | undefined
}

export class Failure extends Error {
  readonly exit: ExitCode
  readonly code: string
  readonly http: number | null
  readonly hint: string | undefined

  constructor(exit: ExitCode, message: string, { code = codeFor[exit], http, hint }: Circumstances = {}) {
    super(message)
    this.exit = exit
    this.code = code
    this.http = http ?? null
    this.hint = hint
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
export function hinted({ exit, message, code, http }: Failure, hint: string): Failure {
  return new Failure(exit, message, { code, ...(http !== null && { http }), hint })
}

/** For an answer with an error status. */
export function refusal(http: number, body: Readonly<Record<string, unknown>>): Failure {
  const code = typeof body.code === 'string' ? body.code : `HTTP_${http}`
  const message = typeof body.msg === 'string' && body.msg !== '' ? body.msg : `the server answered ${http}`
  // Where the API has no code of its own for it, our daemon says it in these words.
  const exit = code === 'BAD_REQUEST' && missingThing.test(message) ? exitCodes.notFound : exitOf(http, code)
  return new Failure(exit, message, { code, http, hint: hintFor(code) })
}

export function exitOf(http: number, code: string): ExitCode {
  if (http === 429 || code === 'RATE_LIMIT_HIT') return exitCodes.rateLimited
  if (http === 404 || missing.has(code)) return exitCodes.notFound
  if (http === 401 || http === 403 || code === 'UNAUTHORIZED_PRINCIPAL') return exitCodes.denied
  // Said by a proxy in front of a daemon that is away.
  if (http === 502 || http === 503 || http === 504) return exitCodes.unreachable
  return http < 400 ? exitCodes.done : exitCodes.refused
}

/** Prints for people, or as one JSON line. The exit code is the same. */
export function report(failure: Failure, json: boolean): void {
  const { code, message, http, exit } = failure
  if (json) process.stderr.write(`${JSON.stringify({ error: { code, msg: message, http, exit } })}\n`)
  else {
    const label = http === null ? '' : ` (${code})`
    process.stderr.write(`natter: ${harmless(message)}${label}\n${failure.hint ? `  ${harmless(failure.hint)}\n` : ''}`)
  }
}

/** Text from elsewhere must not steer the terminal. Line breaks and tabs stay. */
export function harmless(text: string): string {
  // Nearly all texts are, and looking is cheaper than replacing nothing.
  if (!steering.test(text)) return text
  return text.replace(new RegExp(steering, 'g'), character => {
    return `\\x${character.codePointAt(0)!.toString(16).padStart(2, '0')}`
  })
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is being replaced
const steering = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/

const codeFor: Readonly<Record<ExitCode, string>> = {
  0: 'DONE',
  1: 'FAILED',
  2: 'USAGE',
  3: 'NOT_FOUND',
  4: 'NOT_AUTHENTICATED',
  6: 'UNREACHABLE',
  7: 'RATE_LIMIT_HIT',
  8: 'TIMED_OUT',
  130: 'INTERRUPTED',
  143: 'TERMINATED',
}

/** `message_id: no such message`, `filter_id: no linkifier has the ID 7`, `principals[0]: no active user is amy`. */
const missingThing = /^[\w[\]]+: no (such |[\w ]+ has the ID |active user is )/

/** Codes that mean "there is no such thing" although their status is 400. */
const missing: ReadonlySet<string> = new Set([
  'STREAM_DOES_NOT_EXIST',
  'REACTION_DOES_NOT_EXIST',
  'BAD_EVENT_QUEUE_ID',
  'NONEXISTENT_SUBDOMAIN',
])

function hintFor(code: string): string | undefined {
  if (code === 'INVALID_API_KEY' || code === 'UNAUTHORIZED')
    return 'Check --user and --api-key, the NATTER_* variables, or the profile: natter help environment'
  if (code === 'RATE_LIMIT_HIT') return 'Add --retry 3 to wait and try again.'
  return undefined
}
