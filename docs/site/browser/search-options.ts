// The options that the index is made with, and read with.

import type { Options } from 'minisearch'

export interface Found {
  readonly title: string
  /** Below the folder of the site. */
  readonly path: string
  readonly kind: string
  readonly about: string
}

export const searchOptions: Options = {
  fields: ['title', 'about', 'text'],
  storeFields: ['title', 'path', 'kind', 'about'],
  searchOptions: {
    combineWith: 'AND',
    prefix: true,
    fuzzy: term => (term.length > 4 ? 0.2 : false),
    boost: { title: 6, about: 2 },
    // People who look for a word want its page, not the reason for it.
    boostDocument: (_id, _term, stored) => (stored?.kind === 'decision' ? 0.4 : 1),
  },
}
