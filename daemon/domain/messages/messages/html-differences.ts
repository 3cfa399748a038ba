// The difference between two versions of a message, as HTML: words that came and words that went are marked, as public servers
// mark them. Tags are those of the newer version.

/** How many words all differences of one request may compare. Beyond it, a change is shown as a whole. */
const mostSteps = 100_000
/** How many words and tags the versions of one request may have together. Beyond it, the newer version is shown without marks. */
const mostParts = 150_000

interface Token {
  /** Escaped, as the HTML has it. */
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

type Range = readonly [oldFrom: number, oldTo: number, newFrom: number, newTo: number]

export class HtmlDifferences {
  #steps = mostSteps
  #parts = mostParts
  /** In a history, the newer version of the next difference. */
  #older: { readonly html?: string; readonly tokens: readonly Token[] } = { tokens: [] }

  between(older: string, newer: string): string {
    const unmarked = `<div>${newer}</div>`
    if (this.#parts < 0) return unmarked
    const now = newer === this.#older.html ? this.#older.tokens : tokenize(newer)
    const old = tokenize(older)
    this.#older = { html: older, tokens: old }
    this.#parts -= countParts(old) + countParts(now)
    if (this.#parts < 0) return unmarked
    const pieces: (string | Deleted)[] = []
    let [at, next] = [0, 0]
    for (const { from, to, size } of [...this.#commonBlocks(old, now), { from: old.length, to: now.length, size: 0 }]) {
      if (next < to) for (const piece of markInsertions(now.slice(next, to))) pieces.push(piece)
      if (at < from) pieces.push({ deleted: old.slice(at, from).flatMap(token => expand(token)) })
      for (const token of now.slice(to, to + size))
        for (const piece of expand(token, !token.isAddress)) pieces.push(piece)
      ;[at, next] = [from + size, to + size]
    }
    return `<div>${placeDeletions(pieces).join('').trim()}</div>`
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
    const ranges: Range[] = [[0, old.length, 0, now.length]]
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
    [oldFrom, oldTo, newFrom, newTo]: Range,
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
function tokenize(html: string): Token[] {
  const tokens: Token[] = []
  const addresses: string[] = []
  let tags: string[] = []
  const add = (word: string, space: string, isAddress = false) => {
    tokens.push({ word, space, before: tags, after: [], isAddress })
    tags = []
  }
  for (const part of html.split(/(<[^<>]*>)/)) {
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
  else for (const tag of tags) tokens.at(-1)!.after.push(tag)
  return tokens
}

/** Tags too: a text can be thousands of them without a word. */
function countParts(tokens: readonly Token[]): number {
  return tokens.reduce((count, { before, after }) => count + before.length + 1 + after.length, 0)
}

function expand({ word, space, before, after }: Token, isShown = true): string[] {
  return [...before, ...(isShown ? [word + space] : []), ...after]
}

interface Deleted {
  readonly deleted: readonly string[]
}

/** What is whole by itself is marked; tags that begin or end outside of it stand beside the marks. */
function markInsertions(tokens: readonly Token[]): string[] {
  const pieces: string[] = []
  let run: string[] = []
  const close = () => {
    if (run.length > 0) pieces.push(...mark('inserted', run))
    run = []
  }
  for (const [piece, isWhole] of balance(tokens.flatMap(token => expand(token))))
    if (isWhole) run.push(piece)
    else {
      close()
      pieces.push(piece)
    }
  close()
  return pieces
}

/** Deleted words come inside of the tags that they were in, where the newer version has these tags there. */
function placeDeletions(pieces: readonly (string | Deleted)[]): string[] {
  const placed: string[] = []
  const rest = pieces.toReversed()
  for (let piece = rest.pop(); piece !== undefined; piece = rest.pop()) {
    if (typeof piece === 'string') {
      if (piece.startsWith('<span class="highlight_text_')) separate(placed)
      placed.push(piece)
      continue
    }
    const parts = balance(piece.deleted)
    const following: string[] = []
    for (const [part, isWhole] of parts) {
      const ahead = rest.at(-1)
      if (isWhole || isEnd(part) || typeof ahead !== 'string' || isEnd(ahead) || nameOf(ahead) !== nameOf(part)) break
      placed.push(ahead)
      rest.pop()
    }
    for (const [part, isWhole] of parts.toReversed()) {
      const behind = placed.at(-1) ?? ''
      if (isWhole || !isEnd(part) || !isEnd(behind) || nameOf(behind) !== nameOf(part)) break
      following.push(placed.pop()!)
    }
    const whole = parts.filter(([, isWhole]) => isWhole).map(([part]) => part)
    if (whole.length > 0) {
      separate(placed)
      placed.push(...mark('deleted', whole))
    }
    for (const tag of following.toReversed()) placed.push(tag)
  }
  return placed
}

/** A mark cannot hold paragraphs or items of lists: there is one in each of them. */
function mark(change: 'inserted' | 'deleted', run: readonly string[]): string[] {
  let html = ''
  let words: string[] = []
  const close = () => {
    if (words.length > 0) html += `<span class="highlight_text_${change}">${words.join('').replace(/ $/, '')}</span>`
    words = []
  }
  for (const piece of run)
    if (isBlock(piece)) {
      close()
      html += piece
    } else words.push(piece)
  close()
  return [`${html.replace(/ $/, '')} `]
}

/** Each piece, and whether it is a word or a tag whose counterpart is here too. */
function balance(pieces: readonly string[]): (readonly [piece: string, isWhole: boolean])[] {
  const alone = new Set<number>()
  const open: number[] = []
  for (const [index, piece] of pieces.entries()) {
    if (!piece.startsWith('<') || isEmpty(piece)) continue
    if (!isEnd(piece)) {
      open.push(index)
      continue
    }
    let start = open.pop()
    while (start !== undefined && nameOf(pieces[start]!) !== nameOf(piece)) {
      alone.add(start)
      start = open.pop()
    }
    if (start === undefined) alone.add(index)
  }
  for (const index of open) alone.add(index)
  return pieces.map((piece, index) => [piece, !alone.has(index)])
}

function separate(pieces: string[]): void {
  const last = pieces.pop()
  if (last !== undefined) pieces.push(last.endsWith(' ') ? last : `${last} `)
}

function nameOf(tag: string): string | undefined {
  return /^<\/?([^\s>]+)/.exec(tag)?.[1]
}

function isEnd(tag: string): boolean {
  return tag.startsWith('</')
}

function isEmpty(tag: string): boolean {
  return /^<(?:br|hr|img)\b/.test(tag)
}

function isBlock(tag: string): boolean {
  return /^<\/?(?:p|ul|ol|li|blockquote|pre|div|h[1-6]|table|thead|tbody|tr|t[hd])\b/.test(tag)
}
