// The index of the search: each section of a guide, and each entry of a reference.

import MiniSearch from 'minisearch'
import { type Found, searchOptions } from './browser/search-options.ts'
import { isEntry, type SitePage } from './pages.ts'
import type { Rendered } from './render.ts'

export function buildIndex(pages: readonly (readonly [SitePage, Rendered])[]): string {
  const index = new MiniSearch(searchOptions)
  let id = 0
  const add = (found: Found, text: string) => index.add({ id: id++, ...found, text: [...collectWords(text)].join(' ') })
  for (const [page, { texts }] of pages) {
    const { path, title, kind, about } = page
    if (isEntry(kind) || kind === 'decision') add({ title, path, kind, about }, texts.map(({ text }) => text).join(' '))
    else
      for (const { heading, text } of texts) {
        if (!heading) add({ title, path, kind, about }, text)
        else add({ title: heading.title, path: `${path}#${heading.id}`, kind, about: title }, text)
      }
  }
  return JSON.stringify(index)
}

/** Each once: how often a word comes up says little, and costs much. */
function collectWords(text: string): ReadonlySet<string> {
  return new Set(text.toLowerCase().match(/[\p{L}\p{N}]{2,40}/gu) ?? [])
}
