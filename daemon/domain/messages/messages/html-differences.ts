// The difference between two versions of a message, as HTML: words that came and words that went are marked, as public servers
// mark them. Tags are those of the newer version.

/** How many words all differences of one request may compare. Beyond it, a change is shown as a whole. */
const mostSteps = 250_000

interface Token {
  /** Escaped, as it stands in the HTML. */
  readonly word: string
  readonly space: string
  readonly before: readonly string[]
  readonly after: string[]
  /** The address of a link, which is shown where it changed. */
  readonly isAddress?: boolean
}

interface Block {
  readonly from: number
  readonly to: number
  readonly size: number
}

export class HtmlDifferences {
  #steps = mostSteps

  between(older: string, newer: string): string {
    const [old, now] = [tokensOf(older), tokensOf(newer)]
    const chunks: string[] = []
    let [at, next] = [0, 0]
    for (const { from, to, size } of [...this.#commonBlocks(old, now), { from: old.length, to: now.length, size: 0 }]) {
      const closing = markInserted(chunks, now.slice(next, to))
      markDeleted(chunks, old.slice(at, from))
      chunks.push(...closing)
      for (const token of now.slice(to, to + size)) chunks.push(...expand(token, !token.isAddress))
      ;[at, next] = [from + size, to + size]
    }
    return `<div>${chunks.join('').trim()}</div>`
  }

  /** The longest run of words that both have, then the longest before and after it, and so on. */
  #commonBlocks(old: readonly Token[], now: readonly Token[]): Block[] {
    const positions = new Map<string, number[]>()
    for (const [index, { word }] of now.entries()) {
      const places = positions.get(word)
      if (places) places.push(index)
      else positions.set(word, [index])
    }
    const blocks: Block[] = []
    const ranges = [[0, old.length, 0, now.length] as const]
    for (let range = ranges.pop(); range; range = ranges.pop()) {
      const [oldFrom, oldTo, newFrom, newTo] = range
      const longest = this.#longestBlock(old, positions, range)
      if (longest.size === 0) continue
      blocks.push(longest)
      ranges.push([oldFrom, longest.from, newFrom, longest.to])
      ranges.push([longest.from + longest.size, oldTo, longest.to + longest.size, newTo])
    }
    if (this.#steps < 0) return []
    // A word or two in common say nothing about a long text.
    const least = Math.min(2, now.length / 4)
    return blocks.sort((a, b) => a.from - b.from).filter(({ size }) => size > least)
  }

  #longestBlock(
    old: readonly Token[],
    positions: ReadonlyMap<string, readonly number[]>,
    [oldFrom, oldTo, newFrom, newTo]: readonly [number, number, number, number],
  ): Block {
    let longest: Block = { from: oldFrom, to: newFrom, size: 0 }
    let lengths = new Map<number, number>()
    for (let i = oldFrom; i < oldTo && this.#steps >= 0; i++) {
      const following = new Map<number, number>()
      const places = positions.get(old[i]!.word) ?? []
      this.#steps -= 1 + places.length
      for (const place of places) {
        if (place < newFrom || place >= newTo) continue
        const size = (lengths.get(place - 1) ?? 0) + 1
        following.set(place, size)
        if (size > longest.size) longest = { from: i - size + 1, to: place - size + 1, size }
      }
      lengths = following
    }
    return longest
  }
}

/** Words with the tags around them. */
function tokensOf(html: string): Token[] {
  const tokens: Token[] = []
  const addresses: string[] = []
  let tags: string[] = []
  const add = (word: string, space: string, isAddress = false) => {
    tokens.push({ word, space, before: tags, after: [], isAddress })
    tags = []
  }
  for (const part of html.split(/(<[^>]*>)/)) {
    if (part.startsWith('<')) {
      if (part.startsWith('<a ')) addresses.push(/ href="([^"]*)"/.exec(part)?.[1] ?? '')
      if (part === '</a>') add(` Link: ${addresses.pop() ?? ''}`, ' ', true)
      if (isEnd(part) && tags.length === 0 && tokens.length > 0) tokens.at(-1)!.after.push(part)
      else tags.push(part)
      continue
    }
    const last = tags.length > 0 ? tags : tokens.at(-1)?.after
    if (/^\s/.test(part) && last?.length && (isEnd(last.at(-1)!) || isEmpty(last.at(-1)!))) last.push(`${last.pop()} `)
    for (const [, word, space] of part.matchAll(/(\S+)(\s*)/g)) add(word!, space!)
  }
  if (tokens.length === 0) add('', '')
  else tokens.at(-1)!.after.push(...tags)
  return tokens
}

function expand({ word, space, before, after }: Token, isShown = true): string[] {
  return [...before, ...(isShown ? [word + space] : []), ...after]
}

/** Gives the tags that end here, which belong after what was deleted. */
function markInserted(chunks: string[], tokens: readonly Token[]): string[] {
  const inserted = tokens.flatMap(token => expand(token))
  const closing: string[] = []
  while (isEnd(inserted.at(-1) ?? '')) closing.unshift(inserted.pop()!)
  let run: string[] = []
  for (const chunk of inserted)
    if (!chunk.startsWith('<') || isEmpty(chunk)) run.push(chunk)
    else {
      mark(chunks, 'inserted', run)
      run = []
      chunks.push(chunk)
    }
  mark(chunks, 'inserted', run)
  return closing
}

function markDeleted(chunks: string[], tokens: readonly Token[]): void {
  mark(
    chunks,
    'deleted',
    tokens.flatMap(token => expand(token)).filter(chunk => !chunk.startsWith('<') || isEmpty(chunk)),
  )
}

function mark(chunks: string[], change: 'inserted' | 'deleted', run: readonly string[]): void {
  if (run.length === 0) return
  const last = chunks.pop()
  if (last !== undefined) chunks.push(last.endsWith(' ') ? last : `${last} `)
  chunks.push(`<span class="highlight_text_${change}">${run.join('').replace(/ $/, '')}</span> `)
}

function isEnd(tag: string): boolean {
  return tag.startsWith('</')
}

function isEmpty(tag: string): boolean {
  return /^<(?:br|hr|img)\b/.test(tag)
}
