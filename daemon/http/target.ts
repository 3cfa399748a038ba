// Checks the target of a request before anything else reads it. A path that two readers may read differently is refused: a proxy,
// a daemon that forwards the request or a library could take it for another path than the router does.

import { malformed, type Refusal } from '../domain/refusal.ts'
import { prefix } from './incoming.ts'

/** Matches most targets, which have nothing that can be read in two ways. */
const plain = /^\/(?!\/)[\w/:@!$&'()*+,;=~-]*(?:\?|$)/

/** Paths whose parameters can be texts with a slash in them, such as email addresses. */
const takesSlashes = new RegExp(`^(?:/spaces/[^/]+)?(?:${prefix}|/avatar)/`)

const encodedSlash = /%2f/i

/** The refusal of a target; undefined if it is accepted. */
export function targetRefusal(target: string): Refusal | undefined {
  if (plain.test(target)) return undefined
  if (!target.startsWith('/') || target.startsWith('//'))
    return malformed(`Send a path that begins with one slash, such as ${prefix}/messages, not a whole address.`)
  const path = target.split('?', 1)[0]!
  const decoded = path.replace(/%([0-7][\da-f])/gi, (_match, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
  if (/[\0-\x1f\x7f]/.test(decoded)) return malformed('The path has a control character. Remove it.')
  if (path.includes('#')) return malformed("The path has a '#'. Encode it as %23, or leave the fragment out.")
  if (decoded.includes('\\')) return malformed('The path has a backslash. Separate its parts with slashes.')
  if (/\/\.{1,2}(?:[/;]|$)/.test(decoded))
    return malformed("The path has a part that is '.' or '..'. Send the path that you mean without them.")
  return encodedSlash.test(path) && !takesSlashes.test(path) ? slashRefusal() : undefined
}

/** The refusal of more than one Host (RFC 9112, section 3.2): a proxy in front may have gone by the other one. */
export function hostRefusal(rawHeaders: readonly string[]): Refusal | undefined {
  const isHost = (text: string, index: number) => index % 2 === 0 && text.toLowerCase() === 'host'
  const first = rawHeaders.findIndex(isHost)
  return rawHeaders.findLastIndex(isHost) === first ? undefined : malformed('Send the header Host once.')
}

/** For a path that leads nowhere: whether an encoded slash is the reason. */
export function hasEncodedSlash(path: string): boolean {
  return encodedSlash.test(path)
}

export function slashRefusal(): Refusal {
  return malformed(
    'The path has an encoded slash (%2F) where no parameter takes one. Send a plain slash, or leave it out.',
  )
}
