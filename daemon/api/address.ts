// The address of every call: a site that was checked, and a path below one of its roots. A path can come from a file or from a
// server. Joined as text, `@host/…` or `/../..` would send a key to another place.

/** What natter asks of a server. */
const root = /^\/(?:api|control|user_uploads|user_avatars|static|readyz)(?=[/?]|$)/
const dotSegment = /(?:^|\/)(?:\.|%2e){1,2}(?:\/|$)/i
// Tabs and line breaks would be dropped, and a backslash would be read as a slash.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is refused
const misread = /[\\#\u0000-\u001f\u007f]/

/** The address of a server, without a slash at its end. Throws a TypeError that says what is wrong. */
export function siteAddress(text: string): string {
  const url = /^https?:\/\//i.test(text) && URL.canParse(text) ? new URL(text) : undefined
  if (!url) throw new TypeError(`"${text}" is not the address of a server, such as http://127.0.0.1:9991`)
  if (url.username || url.password) throw new TypeError(`the address of ${url.host} must not have a user or a password`)
  if (url.search || url.hash) throw new TypeError(`the address of ${url.host} must end before ? and #`)
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`
}

/** Whether the path, with its query, names something below a root of the site. */
export function isPath(path: string): boolean {
  const at = path.indexOf('?')
  return root.test(path) && !misread.test(path) && !dotSegment.test(at < 0 ? path : path.slice(0, at))
}

/** Throws a TypeError if the path leads anywhere else. */
export function resolveAddress(site: string, path: string): URL {
  if (!isPath(path)) throw new TypeError(`the path ${JSON.stringify(shorten(path))} is not one of the API`)
  const base = siteAddress(site)
  const url = new URL(`${base}${path}`)
  if (!isSameOrigin(url, base)) throw new TypeError(`the path ${JSON.stringify(shorten(path))} leaves ${base}`)
  return url
}

/** The address of anything below a site, for what passes requests on; undefined if the path cannot be one. */
export function belowSite(site: string, path: string): URL | undefined {
  const address = `${siteAddress(site)}${path}`
  if (!path.startsWith('/') || !URL.canParse(address)) return undefined
  const url = new URL(address)
  return isSameOrigin(url, site) ? url : undefined
}

/** Whether a key for the site may be sent to the address. */
export function isSameOrigin(url: URL, site: string): boolean {
  return url.origin === new URL(site).origin && url.username === '' && url.password === ''
}

function shorten(text: string): string {
  return text.length > 100 ? `${text.slice(0, 99)}…` : text
}
