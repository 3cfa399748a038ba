// Markdown to HTML. HTML in the source is always escaped.

import type { State } from '../state.ts'

export interface Rendered {
  readonly html: string
}

/** Renders what has no author or place: descriptions, profile fields. */
export function renderInline(_state: State, source: string): string {
  return source === '' ? '' : `<p>${escapeHtml(source)}</p>`
}

export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}
