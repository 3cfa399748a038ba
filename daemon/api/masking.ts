// Hides secrets wherever calls are shown or kept: fields with telling names, and addresses that need no key.

export const hidden = '***'

const secretName = 'password|api_?key|token|secret|invite_link|link_url'
const named = new RegExp(secretName, 'i')
const inJson = new RegExp(`("(?=[^"]*(?:${secretName}))[^"]*":\\s*)"[^"\\\\]*(?:\\\\.[^"\\\\]*)*"?`, 'gi')
/** Invitations, temporary addresses of files, and the command in a mail that confirms an address. */
const tokens = /(\/join\/|\/user_uploads\/temporary\/|confirm-email )[^/"\\\s]+/g

export function isSecretName(name: string): boolean {
  return named.test(name)
}

/** A text without tokens in addresses. */
export function maskTokens(text: string): string {
  return text.includes('/join/') || text.includes('/temporary/') || text.includes('confirm-email ')
    ? text.replace(tokens, `$1${hidden}`)
    : text
}

/** A JSON text without the values of fields that are secret. */
export function maskJson(json: string): string {
  return maskTokens(json.replace(inJson, `$1"${hidden}"`))
}
