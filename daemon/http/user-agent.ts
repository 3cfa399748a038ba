// The header User-Agent: name and version of the calling program, read as the public server reads them.

/** The name ends before a slash, or before a parenthesis: `MyBot (Debian GNU/Linux; 12)` is MyBot. */
const form = /^([^/ ]*[^0-9/(]*)(?:\/([^/ ]*))?(?:[ /].*)?$/s

/** Characters of the header that are read: more says nothing about the program. */
const longest = 200

export function readUserAgent(header: string): { readonly name: string; readonly version: string } {
  const [, name = '', version = ''] = form.exec(header.slice(0, longest)) ?? []
  return { name, version }
}
