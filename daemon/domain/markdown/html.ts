// HTML is written here and nowhere else in the renderer: every text and attribute passes one of these.

import { escapeHtml } from '../model/escape.ts'

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
