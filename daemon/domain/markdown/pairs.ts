// Pairs in a line of text: code spans, square brackets and bare links, found in one pass. The rules of markdown-it look
// ahead again from every bracket, which takes quadratic time on text made for it.

import { type BareLink, findBareLinks } from './bare-links.ts'

export interface Pairs {
  /** Start of a run of backticks → start of the run that closes it. */
  readonly code: ReadonlyMap<number, number>
  /** Opening bracket → closing bracket. */
  readonly brackets: ReadonlyMap<number, number>
  /** Where the last `>` is; -1 if there is none. */
  readonly lastAngle: number
  readonly links: readonly BareLink[]
}

/** The first bare link that starts here or later. */
export function nextLink({ links }: Pairs, from: number): BareLink | undefined {
  let low = 0
  for (let high = links.length; low < high; ) {
    const middle = (low + high) >> 1
    if (links[middle]!.start < from) low = middle + 1
    else high = middle
  }
  return links[low]
}

export function runLength(text: string, start: number): number {
  let end = start
  while (text[end] === text[start]) end++
  return end - start
}

export function findPairs(text: string): Pairs {
  const code = closingRuns(text)
  const brackets = new Map<number, number>()
  const open: number[] = []
  for (let at = 0; at < text.length; at++) {
    const char = text[at]
    if (char === '`') {
      const length = runLength(text, at)
      // Brackets in code are no brackets.
      at = (code.get(at) ?? at) + length - 1
    } else if (char === '[') open.push(at)
    else if (char === ']') {
      const start = open.pop()
      if (start !== undefined) brackets.set(start, at)
    }
  }
  return { code, brackets, lastAngle: text.lastIndexOf('>'), links: findBareLinks(text) }
}

function closingRuns(text: string): Map<number, number> {
  const runs: (readonly [start: number, length: number])[] = []
  for (let at = text.indexOf('`'); at >= 0; ) {
    const length = runLength(text, at)
    runs.push([at, length])
    at = text.indexOf('`', at + length)
  }
  const closing = new Map<number, number>()
  const next = new Map<number, number>()
  for (const [start, length] of runs.reverse()) {
    const close = next.get(length)
    if (close !== undefined) closing.set(start, close)
    next.set(length, start)
  }
  return closing
}
