// HTML is written here and nowhere else in the renderer: every text and attribute passes one of these.

import { escapeHtml } from '../values/escape.ts'

/** Text between tags. Quotes need no escape there, and an entity that the author wrote stays that entity. */
export function escapeText(text: string): string {
  return /[&<>]/.test(text)
    ? text
        .replace(/&(?!(?:#\d+|#x[0-9a-f]+|[0-9a-z]+);)/gi, '&amp;')
        .replace(/[<>]/g, angle => (angle === '<' ? '&lt;' : '&gt;'))
    : text
}

/** A text in which nothing means anything but itself. */
export function plainHtml(text: string): string {
  return `<p>${escapeHtml(text).replaceAll('\n', '<br>\n')}</p>`
}

/** Code between tags, in which an entity is what it looks like. */
export function escapeCode(code: string): string {
  return code.replace(/[&<>]/g, char => (char === '&' ? '&amp;' : char === '<' ? '&lt;' : '&gt;'))
}

/** Attributes that are undefined are left out; `true` has no value. `inside` is HTML already. */
export function element(
  tag: string,
  attributes: Readonly<Record<string, string | number | true | undefined>>,
  inside = '',
): string {
  return `${openTag(tag, attributes)}${inside}</${tag}>`
}

export function openTag(
  tag: string,
  attributes: Readonly<Record<string, string | number | true | undefined>> = {},
): string {
  let written = ''
  for (const [name, value] of Object.entries(attributes))
    if (value !== undefined) written += value === true ? ` ${name}` : ` ${name}="${escapeHtml(String(value))}"`
  return `<${tag}${written}>`
}
