// Hides secrets wherever calls are shown or kept: fields with telling names, and addresses that need no key.

export const hidden = '***'

/** Also as `api-key`, and with an underscore that was encoded twice. */
const secretName = 'password|api(?:%5f|[^a-z\\d"])?key|token|secret|invite_link|link_url'
const named = new RegExp(secretName, 'i')
const inJson = new RegExp(`("(?=[^"]*(?:${secretName}))[^"]*"\\s*:\\s*)"[^"\\\\]*(?:\\\\.[^"\\\\]*)*"?`, 'gi')
/** Invitations, temporary addresses of files, and the command in a mail that confirms an address. */
const tokens = /(\/join\/|\/user_uploads\/temporary\/|confirm-email )[^/"\\\s]+/g
/** A field inside another: in a query whose fields have semicolons between them, or after a path without a question mark. */
const inField = new RegExp(`([;&](?=[^;&="\\\\\\s]*(?:${secretName}))[^;&="\\\\\\s]*=)[^;&"\\\\\\s]+`, 'gi')

export function isSecretName(name: string): boolean {
  return named.test(name)
}

/** A text without tokens in addresses. */
export function maskTokens(text: string): string {
  const told =
    text.includes('/join/') || text.includes('/temporary/') || text.includes('confirm-email ')
      ? text.replace(tokens, `$1${hidden}`)
      : text
  return told.includes('=') ? told.replace(inField, `$1${hidden}`) : told
}

/** A JSON text without the values of fields that are secret. Unchanged if there are none: it may be any other text. */
export function maskJson(json: string): string {
  const plain = json.includes('\\u00') || json.includes('\\/') ? unescapeNames(json) : json
  const masked = maskTokens(plain.replace(inJson, `$1"${hidden}"`))
  return masked === plain ? json : masked
}

/** Letters, underscores, hyphens and slashes, which JSON may write as escapes; other escapes, so that a backslash before `u0041` is not taken for one. */
const escapes = /\\(?:u00(2[df]|4[1-9a-f]|5[0-9af]|6[1-9a-f]|7[0-9a])|(.))/gi

/** The same JSON, in which names and addresses are written as they read. */
function unescapeNames(json: string): string {
  return json.replace(escapes, (written, code?: string, char?: string) =>
    code ? String.fromCharCode(Number.parseInt(code, 16)) : char === '/' ? '/' : written,
  )
}
