// Links to messages, topics and channels, as the public web app writes them: the place is in the fragment of the address.

/** A place that a link names. */
export type LinkedPlace =
  | { readonly kind: 'channel'; readonly channelId: number; readonly topic?: string; readonly messageId?: number }
  | { readonly kind: 'direct'; readonly userIds: readonly number[]; readonly messageId?: number }

/** What a link needs to know of a message; fields as the API names them. */
export interface LinkedMessage {
  readonly id: number
  readonly type: string
  readonly stream_id?: number
  /** The name of the channel, or the recipients of a direct message. */
  readonly display_recipient: string | readonly { readonly id: number }[]
  readonly subject: string
}

/** Percent-encoded, with dots for percent signs: a fragment with percent signs is decoded by some browsers. */
function encodeForFragment(text: string): string {
  return encodeURIComponent(text.toWellFormed())
    .replace(/[!'()*.]/g, char => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('%', '.')
}

/** Undefined if it is not the encoding of a text. */
function decodeFromFragment(encoded: string): string | undefined {
  try {
    return decodeURIComponent(encoded.replace(/[.%]([\dA-Fa-f]{2})/g, '%$1'))
  } catch {
    return undefined
  }
}

/** The address of a message below the site. */
export function messageLink(site: string, message: LinkedMessage): string {
  const { id, display_recipient: recipient, subject } = message
  if (typeof recipient === 'string')
    return `${topicLink(site, { id: message.stream_id ?? 0, name: recipient }, subject)}/near/${id}`
  const userIds = recipient.map(user => user.id).sort((a, b) => a - b)
  return `${site}/#narrow/dm/${userIds.join(',')}-${userIds.length > 2 ? 'group' : 'dm'}/near/${id}`
}

export function channelLink(site: string, { id, name }: { readonly id: number; readonly name: string }): string {
  return `${site}/#narrow/channel/${id}-${encodeForFragment(name.replaceAll(' ', '-'))}`
}

export function topicLink(
  site: string,
  channel: { readonly id: number; readonly name: string },
  topic: string,
): string {
  return `${channelLink(site, channel)}/topic/${encodeForFragment(topic)}`
}

/**
 * Reads a link of either spelling: `channel` and `topic`, or the older `stream` and `subject`; `dm` or `pm-with`. `near` and `with` name a
 * message. Undefined for any other text.
 */
export function readLink(text: string): LinkedPlace | undefined {
  const at = text.indexOf('#narrow/')
  // Before the fragment there is the address of a site, or nothing.
  if (at < 0 || !/^(?:https?:\/\/[^\s#]*)?\/?$/i.test(text.slice(0, at))) return undefined
  const parts = text.slice(at + '#narrow/'.length).split('/')
  const terms = new Map<string, string>()
  for (let i = 0; i + 1 < parts.length; i += 2) {
    const operand = decodeFromFragment(parts[i + 1]!)
    if (operand === undefined) return undefined
    terms.set(parts[i]!, operand)
  }
  const near = idIn(terms.get('near') ?? terms.get('with'))
  const message = near === undefined ? {} : { messageId: near }
  const channelId = idIn(terms.get('channel') ?? terms.get('stream'))
  const topic = terms.get('topic') ?? terms.get('subject')
  if (channelId !== undefined) return { kind: 'channel', channelId, ...(topic !== undefined && { topic }), ...message }
  const users = /^\d+(?:,\d+)*/.exec(terms.get('dm') ?? terms.get('pm-with') ?? '')?.[0]
  return users === undefined ? undefined : { kind: 'direct', userIds: users.split(',').map(Number), ...message }
}

/** Whether a link leads to the site, or to no site in particular. */
export function isLinkTo(site: string, link: string): boolean {
  const base = link.slice(0, link.indexOf('#narrow/'))
  return !/^https?:/i.test(base) || addressIn(base) === addressIn(site)
}

/** Names of this machine are alike. */
function addressIn(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined
  const { protocol, hostname, port, pathname } = new URL(text)
  const host = ['localhost', '[::1]'].includes(hostname) ? '127.0.0.1' : hostname
  return `${protocol}//${host}:${port}${pathname.replace(/\/+$/, '')}`
}

/** `5-general` begins with the ID. */
function idIn(operand: string | undefined): number | undefined {
  const id = Number(/^\d+/.exec(operand ?? '')?.[0] ?? Number.NaN)
  return Number.isSafeInteger(id) ? id : undefined
}
