// Looks for words: by the rarest of them, in the texts of the segments and in the names of topics.

import { IdList } from './id-list.ts'
import type { Places } from './places.ts'
import { type Segment, segmentBits } from './segment.ts'
import type { WordPart } from './word-index.ts'
import { wordHashes } from './words.ts'

export interface FoundWords {
  readonly count: number
  readonly parts: readonly WordPart[]
}

/** undefined when the lower-case text has no words. */
export function placesOfWords(
  text: string,
  segments: readonly Segment[],
  places: Places,
  lastId: number,
): FoundWords | undefined {
  const hashes = wordHashes(text)
  if (hashes.length === 0) return undefined
  const frequency = (hash: number) =>
    segments.reduce((sum, segment) => sum + segment.words.count(hash), 0) +
    places.threadsWithWord(hash).reduce((sum, thread) => sum + thread.ids.length, 0)
  const [rarest] = hashes.map(hash => ({ hash, count: frequency(hash) })).sort((a, b) => a.count - b.count)
  const { hash, count } = rarest!
  const parts = segments
    .filter(segment => segment.words.count(hash) > 0)
    .map(segment => ({
      first: segment.number << segmentBits,
      last: ((segment.number + 1) << segmentBits) - 1,
      ids: () => new IdList([...segment.words.find(hash)].map(local => (segment.number << segmentBits) + local)),
    }))
  const topics = places.threadsWithWord(hash).map(({ ids }) => ({ first: 0, last: lastId, ids: () => ids }))
  return { count, parts: [...parts, ...topics] }
}
