// Every error code of the API: its HTTP status, the kind of refusal it is, what it means, which extra fields come with it.
// A test compares this table with the refusals in the code and with the generated docs, in both directions.

/** What a program needs to know of a refusal, whatever its code and sentence are. Sent in the header `Natter-Refusal`. */
export const refusalKinds = {
  invalid: 'The request is wrong: a parameter, the body or the method. The same request fails again.',
  conflict: 'The request does not fit what exists: a name is taken, a thing is in use or already as wanted.',
  'not-found': 'What the request names does not exist, or the caller cannot know of it.',
  forbidden: 'The caller is known and is not permitted to do this.',
  unauthenticated: 'No credentials, wrong credentials, or those of a deactivated account or organization.',
  'rate-limited': 'Too many requests. Wait as long as `Retry-After` says.',
  unavailable: 'The daemon is starting or stopping. Try again later.',
  defect: 'A defect in the daemon.',
} as const

export type RefusalKind = keyof typeof refusalKinds

export const kindHeader = 'Natter-Refusal'
/** The name of the parameter that is wrong, where there is one. */
export const parameterHeader = 'Natter-Parameter'

export interface CodeEntry {
  readonly status: number
  /** Of most refusals with this code; one refusal may be of another kind. */
  readonly kind: RefusalKind
  readonly meaning: string
  readonly fields?: readonly string[]
  /** Part of the API family but never sent by natter: push services, integrations, browser sessions. */
  readonly outside?: true
}

export const errorCodes = {
  BAD_REQUEST: {
    status: 400,
    kind: 'invalid',
    meaning: 'The request cannot be carried out; the message says why and names the parameter.',
    fields: ['parameters', 'empty_topic_display_name', 'errors', 'allowed_methods'],
  },
  REQUEST_VARIABLE_MISSING: {
    status: 400,
    kind: 'invalid',
    meaning: 'A required parameter is absent.',
    fields: ['var_name'],
  },
  REQUEST_VARIABLE_INVALID: {
    status: 400,
    kind: 'invalid',
    meaning: 'A parameter that takes a number or one of a fixed set of values has another value.',
    fields: ['var_name', 'bad_value'],
  },
  REQUEST_CONFUSING_VAR: {
    status: 400,
    kind: 'invalid',
    meaning: 'A parameter and its older spelling were both sent.',
    fields: ['var_name1', 'var_name2'],
  },
  INVALID_JSON: { status: 400, kind: 'invalid', meaning: 'The body is declared as JSON but is not valid JSON.' },
  BAD_NARROW: {
    status: 400,
    kind: 'invalid',
    meaning: 'A narrow has an unknown operator or operand.',
    fields: ['desc'],
  },
  BAD_EVENT_QUEUE_ID: {
    status: 400,
    kind: 'not-found',
    meaning: 'The event queue does not exist, has expired, or belongs to another user. Register a new one.',
    fields: ['queue_id'],
  },
  STREAM_DOES_NOT_EXIST: {
    status: 400,
    kind: 'not-found',
    meaning: 'The channel does not exist, or you cannot see it.',
    fields: ['stream_id', 'stream'],
  },
  CHANNEL_ALREADY_EXISTS: {
    status: 409,
    kind: 'conflict',
    meaning: 'There is already a channel with this name.',
    fields: ['channel_name'],
  },
  REACTION_ALREADY_EXISTS: { status: 400, kind: 'conflict', meaning: 'You have already reacted with this emoji.' },
  REACTION_DOES_NOT_EXIST: { status: 400, kind: 'not-found', meaning: 'You have not reacted with this emoji.' },
  STREAM_WILDCARD_MENTION_NOT_ALLOWED: {
    status: 400,
    kind: 'forbidden',
    meaning: 'You cannot mention everyone in a channel of this size.',
  },
  TOPIC_WILDCARD_MENTION_NOT_ALLOWED: {
    status: 400,
    kind: 'forbidden',
    meaning: 'You cannot mention everyone in a topic of this size.',
  },
  MOVE_MESSAGES_TIME_LIMIT_EXCEEDED: {
    status: 400,
    kind: 'forbidden',
    meaning: 'Some of the messages are too old for you to move.',
    fields: ['first_message_id_allowed_to_move', 'total_messages_in_topic', 'total_messages_allowed_to_move'],
  },
  EXPECTATION_MISMATCH: {
    status: 400,
    kind: 'conflict',
    meaning: 'The value has changed since you last read it.',
    fields: ['field_name'],
  },
  SYSTEM_GROUP_REQUIRED: {
    status: 400,
    kind: 'invalid',
    meaning: 'The setting accepts only a system group.',
    fields: ['setting_name'],
  },
  CANNOT_DEACTIVATE_GROUP_IN_USE: {
    status: 400,
    kind: 'conflict',
    meaning: 'The group is still in use.',
    fields: ['objections'],
  },
  CANNOT_DEACTIVATE_LAST_USER: {
    status: 400,
    kind: 'conflict',
    meaning: 'The last user or the last owner cannot be deactivated.',
    fields: ['is_last_owner', 'entity'],
  },
  UNAUTHORIZED_PRINCIPAL: { status: 400, kind: 'forbidden', meaning: 'Your role does not allow this.' },
  INVITATION_FAILED: {
    status: 400,
    kind: 'conflict',
    meaning: 'Some invitations could not be sent.',
    fields: ['errors', 'sent_invitations', 'license_limit_reached', 'daily_limit_reached'],
  },
  BAD_IMAGE: { status: 400, kind: 'invalid', meaning: 'The file is not an image in a supported format.' },
  REALM_UPLOAD_QUOTA: { status: 400, kind: 'conflict', meaning: "The organization's upload quota is used up." },
  UNAUTHORIZED: {
    status: 401,
    kind: 'unauthenticated',
    meaning: 'The credentials are missing or malformed, or belong to a bot that cannot call this endpoint.',
  },
  INVALID_API_KEY: { status: 401, kind: 'unauthenticated', meaning: 'The API key does not belong to this account.' },
  USER_DEACTIVATED: { status: 401, kind: 'unauthenticated', meaning: 'The account is deactivated.' },
  REALM_DEACTIVATED: { status: 401, kind: 'unauthenticated', meaning: 'The organization is deactivated.' },
  AUTHENTICATION_FAILED: { status: 401, kind: 'unauthenticated', meaning: 'Unknown user name or wrong password.' },
  PASSWORD_AUTH_DISABLED: {
    status: 401,
    kind: 'unauthenticated',
    meaning: 'The organization does not allow password logins.',
  },
  PASSWORD_RESET_REQUIRED: { status: 401, kind: 'unauthenticated', meaning: 'The password must be changed first.' },
  CSRF_FAILED: {
    status: 403,
    kind: 'forbidden',
    meaning: 'A browser session without its CSRF token.',
    fields: ['reason'],
    outside: true,
  },
  NONEXISTENT_SUBDOMAIN: {
    status: 404,
    kind: 'not-found',
    meaning: 'There is no organization at this host.',
    outside: true,
  },
  RATE_LIMIT_HIT: {
    status: 429,
    kind: 'rate-limited',
    meaning: 'Too many requests. Wait for the number of seconds in retry-after.',
    fields: ['retry-after'],
  },
  SERVER_BUSY: {
    status: 503,
    kind: 'unavailable',
    meaning: 'The daemon has too many connections or unfinished bodies. Try again in a moment.',
  },
  STORAGE_FULL: {
    status: 507,
    kind: 'unavailable',
    meaning: 'The disk of the daemon has no room for a file. Free some space on it, then send the file again.',
  },
  SERVER_NOT_READY: {
    status: 500,
    kind: 'unavailable',
    meaning:
      'The daemon can no longer write its store and is stopping. With status 503, it is still starting or is stopping, the space has been deleted, its disk did not take a file, its cluster cannot take changes at the moment, or a defect has ended the space: try again if the answer has Retry-After; without it your change may have been saved, so check before you repeat it.',
  },
  // OPEN: an internal error has a code of its own, since every error body has a code.
  INTERNAL_ERROR: { status: 500, kind: 'defect', meaning: 'An internal error. The log of the daemon has the details.' },
  INVALID_PUSH_DEVICE_TOKEN: { status: 400, kind: 'not-found', meaning: 'You have no device with this token.' },
  INVALID_REMOTE_PUSH_DEVICE_TOKEN: { status: 400, kind: 'invalid', meaning: 'Push services.', outside: true },
  PUSH_SERVICE_NOT_CONFIGURED: { status: 400, kind: 'invalid', meaning: 'Push services.', outside: true },
  REQUEST_EXPIRED: { status: 400, kind: 'invalid', meaning: 'Push services.', outside: true },
  INVALID_BOUNCER_PUBLIC_KEY: { status: 400, kind: 'invalid', meaning: 'Push services.', outside: true },
  INVALID_ZOOM_TOKEN: { status: 400, kind: 'invalid', meaning: 'Video calls.', outside: true },
  UNKNOWN_ZOOM_USER: { status: 400, kind: 'invalid', meaning: 'Video calls.', outside: true },
  MISSING_HTTP_EVENT_HEADER: { status: 400, kind: 'invalid', meaning: 'Incoming integrations.', outside: true },
  UNSUPPORTED_WEBHOOK_EVENT_TYPE: { status: 200, kind: 'invalid', meaning: 'Incoming integrations.', outside: true },
  ANOMALOUS_WEBHOOK_PAYLOAD: { status: 400, kind: 'invalid', meaning: 'Incoming integrations.', outside: true },
} as const satisfies Record<string, CodeEntry>

export type ErrorCode = keyof typeof errorCodes

/** The kind of a refusal by a server that does not send it: what status and code say. */
export function guessKind(status: number, code: string): RefusalKind {
  const byStatus = statusKinds[status]
  if (byStatus) return byStatus
  if (Object.hasOwn(errorCodes, code)) return errorCodes[code as ErrorCode].kind
  return status >= 500 ? 'defect' : 'invalid'
}

const statusKinds: Readonly<Record<number, RefusalKind>> = {
  401: 'unauthenticated',
  403: 'forbidden',
  404: 'not-found',
  409: 'conflict',
  429: 'rate-limited',
  502: 'unavailable',
  503: 'unavailable',
  504: 'unavailable',
}

/** Codes any call can get, so that endpoints list only their own. */
export const commonCodes: readonly ErrorCode[] = [
  'BAD_REQUEST',
  'REQUEST_VARIABLE_MISSING',
  'REQUEST_CONFUSING_VAR',
  'INVALID_JSON',
  'UNAUTHORIZED',
  'INVALID_API_KEY',
  'USER_DEACTIVATED',
  'REALM_DEACTIVATED',
  'RATE_LIMIT_HIT',
  'SERVER_BUSY',
  'STORAGE_FULL',
  'SERVER_NOT_READY',
  'INTERNAL_ERROR',
]
