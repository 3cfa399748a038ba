// Refusals: the one way to say no. Thrown by commands and by the edge; http/answer.ts turns them into an error body and
// headers. Use a constructor below wherever one fits: together they keep one grammar (docs/wording.md).

import { type ErrorCode, errorCodes, type RefusalKind } from '../api/errors.ts'

interface RefusalDetails {
  /** BAD_REQUEST unless the API has a code of its own for the case. */
  readonly code?: ErrorCode
  /** The kind of the code, unless it is given. */
  readonly kind?: RefusalKind
  /** The status of the code, unless it is given. */
  readonly status?: number
  /** The parameter that is wrong, or a place in it: `principals[0]`. */
  readonly parameter?: string
  /** Extra fields of the error body. */
  readonly fields?: Readonly<Record<string, unknown>>
  /** Seconds after which the caller can try again; nothing was changed. */
  readonly retryAfter?: number
  /** The whole error body, for callers that expect that of another service. */
  readonly body?: Readonly<Record<string, unknown>>
  /** The rule that says no. Not part of the answer. */
  readonly rule?: Law
  /** The kind of thing that is missing, as far as the caller may know. Not part of the answer. */
  readonly absent?: Absent
  /** More about the reason, which the caller must not know. Not part of the answer. */
  readonly hidden?: string
}

/** As much of a rule as explains a refusal. */
export interface Law {
  readonly law: string
}

export interface Absent {
  readonly what: string
  readonly id: number | string | undefined
}

type More = Pick<RefusalDetails, 'code' | 'status' | 'fields'>

export class Refusal extends Error {
  readonly code: ErrorCode
  readonly kind: RefusalKind
  readonly status: number
  /** The name of the parameter alone, without the place in it. */
  readonly parameter: string | undefined
  readonly fields: Readonly<Record<string, unknown>>
  readonly retryAfter: number | undefined
  readonly body: Readonly<Record<string, unknown>> | undefined
  readonly rule: Law | undefined
  readonly absent: Absent | undefined
  readonly hidden: string | undefined

  constructor(msg: string, details: RefusalDetails = {}) {
    const {
      code = 'BAD_REQUEST',
      kind,
      status,
      parameter,
      fields = {},
      retryAfter,
      body,
      rule,
      absent,
      hidden,
    } = details
    super(msg)
    this.code = code
    this.kind = kind ?? errorCodes[code].kind
    this.status = status ?? errorCodes[code].status
    this.parameter = parameter?.split('[', 1)[0]
    this.fields = fields
    this.retryAfter = retryAfter
    this.body = body
    this.rule = rule
    this.absent = absent
    this.hidden = hidden
  }
}

// --- about a parameter: "parameter: what is wrong" --------------------------------------------------------------

/** The value does not fit: `invalid('order', 'must list every channel folder once')`. */
export function invalid(parameter: string, why: string, more?: More): Refusal {
  return about('invalid', parameter, why, more)
}

/** The same where the API repeats the problem by field; one about several fields is under `__all__`. */
export function invalidForm(parameter: string, why: string, field = parameter): Refusal {
  return invalid(parameter, why, { fields: { errors: { [field]: [why] } } })
}

/** The parameter is absent and this request needs it: `needed('topic', 'for a channel message')`. */
export function needed(parameter: string, why?: string, more?: More): Refusal {
  return about('invalid', parameter, why === undefined ? 'required' : `required ${why}`, more)
}

/** The value fits, but not what exists now: `conflict('bot_id', 'the bot is already deactivated')`. */
export function conflict(parameter: string, why: string, more?: More): Refusal {
  return about('conflict', parameter, why, more)
}

/** The name is taken. */
export function taken(parameter: string, value: string, more?: More): Refusal {
  return conflict(parameter, `${inQuotes(value)} is already in use`, more)
}

/**
 * There is no such thing, or the caller may not know of it: the two must look alike. Things are named by a number, the
 * ID, or by a text; without either the sentence says "no such".
 */
export function missing(
  parameter: string,
  what: string,
  id?: number | string,
  { hint, ...more }: More & { readonly hint?: string | undefined } = {},
): Refusal {
  const thing =
    id === undefined ? `such ${what}` : typeof id === 'number' ? `${what} with ID ${id}` : `${what} ${inQuotes(id)}`
  const why = hint === undefined ? `there is no ${thing}` : `there is no ${thing}. ${hint}`
  return about('not-found', parameter, why, { ...more, absent: { what, id } })
}

/** The same for records that only their owner sees; the API answers those with status 404. */
export function missingOwn(parameter: string, what: string, id: number | string): Refusal {
  return missing(parameter, what, id, { status: 404 })
}

function about(kind: RefusalKind, parameter: string, why: string, more: RefusalDetails = {}): Refusal {
  return new Refusal(`${parameter}: ${why}`, { kind, parameter, ...more })
}

// --- about several, or about the request as a whole: a sentence ---------------------------------------------------

/** A request to change something that changes nothing. */
export function neededOneOf(...names: readonly [string, string, ...string[]]): Refusal {
  return new Refusal(`Give at least one of ${inWords(names, 'and')}.`, { kind: 'invalid', parameter: names[0] })
}

export function onlyOneOf(...names: readonly [string, string, ...string[]]): Refusal {
  return new Refusal(`Give only one of ${inWords(names, 'and')}.`, {
    kind: 'invalid',
    parameter: names[0],
    fields: { parameters: names.join(', ') },
  })
}

/** There is no room for more: `full('You', 1000, 'drafts')`. `advice` replaces that for things that cannot be deleted. */
export function full(
  owner: 'You' | 'The organization' | 'A message',
  most: number,
  things: string,
  advice = 'Delete some first.',
): Refusal {
  const has = owner === 'You' ? 'have' : 'has'
  return new Refusal(`${owner} can have ${most} ${things}, and ${has} no room for more. ${advice}`, {
    kind: 'conflict',
  })
}

/** The body, the query string or the path cannot be used as it is. */
export function malformed(msg: string, more?: More): Refusal {
  return new Refusal(msg, { kind: 'invalid', ...more })
}

/** The caller is not known, or no longer welcome. */
export function unauthenticated(
  code: Extract<
    ErrorCode,
    'UNAUTHORIZED' | 'INVALID_API_KEY' | 'USER_DEACTIVATED' | 'REALM_DEACTIVATED' | 'AUTHENTICATION_FAILED'
  >,
  msg: string,
  hidden?: string,
): Refusal {
  return new Refusal(msg, { code, ...(hidden !== undefined && { hidden }) })
}

export function organizationDeactivated(): Refusal {
  return unauthenticated('REALM_DEACTIVATED', 'This organization has been deactivated.')
}

export function userDeactivated(): Refusal {
  return unauthenticated('USER_DEACTIVATED', 'Your account has been deactivated.')
}

/** With the seconds until the next call can succeed. */
export function rateLimited(seconds: number): Refusal {
  return new Refusal('API usage exceeded rate limit', { code: 'RATE_LIMIT_HIT', fields: { 'retry-after': seconds } })
}

/** The caller was an account of a state that is gone; its ID may be that of another account now. */
export function stateReplaced(): Refusal {
  const msg = 'A reset or restore replaced the organization while your request was in progress. Nothing was changed.'
  return new Refusal(msg, { kind: 'conflict' })
}

// --- words --------------------------------------------------------------------------------------------------------

/** A value in a sentence: in double quotes, and cut if it is long. */
export function inQuotes(value: string): string {
  const characters = [...value.slice(0, 2 * longestQuote)]
  return JSON.stringify(characters.length > longestQuote ? `${characters.slice(0, longestQuote).join('')}…` : value)
}

const longestQuote = 80

/** `a, b and c`. */
export function inWords(names: readonly string[], joint: 'and' | 'or'): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} ${joint} ${names.at(-1)}`
}
