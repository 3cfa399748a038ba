// Small parts of HTML.

import { posix } from 'node:path'

/** The address of a file of the site, from a page of it. */
export function relativeTo(page: { readonly path: string }, path: string): string {
  return posix.relative(posix.dirname(page.path), path)
}

/** Long names break after their parts. */
export function breakName(text: string): string {
  return escapeHtml(text).replace(/[a-z]{3}[/_.](?=[a-z{[])|\/(?=\{)/gi, '$&<wbr>')
}

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, char => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[char]!)
}
