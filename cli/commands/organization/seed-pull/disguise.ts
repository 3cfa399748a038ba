// Made-up names for real people: the same for the same person everywhere in a pull. They depend on a salt, so that a list of
// known addresses does not tell whose they are.

import { createHmac } from 'node:crypto'

export interface Person {
  readonly userId: number
  readonly email: string
  readonly fullName: string
  readonly isBot: boolean
}

export interface Disguise {
  readonly fullName: string
  readonly email: string
}

const firstNames = `Ada Ben Cleo Dan Edie Finn Gwen Hugo Iris Jonas Kira Leo Mona Nils Olga
Pia Quinn Rosa Sven Tara Uma Vera Wim Xenia Yann Zoe Arlo Bea Carl Dora`.split(/\s/)
const lastNames = `Abbott Brook Carver Dale Ellis Frost Gray Hale Irving Jarvis Keller Lane Marsh
North Oakes Perry Quill Reed Stone Thorne Upton Vale West Young Zeller Ashby`.split(/\s/)

/** One for each person, also for one who is listed under several names. Two with the same made-up name get a number. */
export function disguisesFor(people: readonly Person[], salt: Uint8Array): Map<number, Disguise> {
  const uses = new Map<string, number>()
  const disguises = new Map<number, Disguise>()
  for (const { userId, email, isBot } of [...people].sort((a, b) => a.userId - b.userId)) {
    if (disguises.has(userId)) continue
    const bytes = hashAddress(email, salt)
    const first = firstNames[bytes.readUInt16BE(0) % firstNames.length]!
    const last = isBot ? 'Bot' : lastNames[bytes.readUInt16BE(2) % lastNames.length]!
    const number = (uses.get(`${first} ${last}`) ?? 0) + 1
    uses.set(`${first} ${last}`, number)
    const fullName = number === 1 ? `${first} ${last}` : `${first} ${last} ${number}`
    disguises.set(userId, { fullName, email: `${fullName.toLowerCase().replaceAll(' ', '.')}@example.com` })
  }
  return disguises
}

/** With real names, only IDs in mentions are removed. */
export function keepText(text: string): string {
  return withoutIds(text)
}

/** Replaces names and addresses of these people in texts, and all other addresses. The texts are then in NFC, as the names are. */
export function disguiseText(
  people: readonly Person[],
  disguises: ReadonlyMap<number, Disguise>,
  salt: Uint8Array,
): (text: string) => string {
  const names = new Names()
  for (const { userId, fullName } of people) names.add(fullName, disguises.get(userId)!.fullName)
  for (const { userId, email } of people) names.add(email, disguises.get(userId)!.email)
  for (const { userId, fullName, isBot } of people)
    if (!isBot)
      for (const [index, part] of fullName.split(/\s+/).entries())
        if (!isShort(part)) names.add(part, partOf(disguises.get(userId)!, index))
  const madeUp = new Set([...disguises.values()].map(({ email }) => email))
  return text =>
    names
      .replaceIn(withoutIds(text))
      .replace(anyAddress, address => (madeUp.has(address) ? address : madeUpAddress(address, salt)))
}

/** The names that begin with the same pieces. */
interface Node {
  readonly next: Map<string, Node>
  /** What replaces the name that ends here. */
  madeUp?: string
  /** How a short name is written: in other cases it is a word, as "it" is. */
  exactly?: string
}

/** Names as a trie of their pieces. A text is cut into pieces once and each is looked up: how many names there are does not matter. */
class Names {
  readonly #root: Node = { next: new Map() }

  /** The first of two that are the same counts. */
  add(name: string, madeUp: string): void {
    const pieces = piecesOf(name).slice(0, mostPieces)
    if (pieces.length === 0) return
    let node = this.#root
    for (const piece of pieces) {
      const key = piece.toLowerCase()
      let next = node.next.get(key)
      if (!next) {
        next = { next: new Map() }
        node.next.set(key, next)
      }
      node = next
    }
    if (node.madeUp !== undefined) return
    node.madeUp = madeUp
    if (isShort(name)) node.exactly = pieces.join('')
  }

  /** Whole words only, and of several names the longest. */
  replaceIn(text: string): string {
    const pieces = piecesOf(text)
    const replaced: string[] = []
    for (let at = 0; at < pieces.length; ) {
      const { madeUp = pieces[at]!, end } = this.#longestAt(pieces, at)
      replaced.push(madeUp)
      at = end
    }
    return replaced.join('')
  }

  #longestAt(pieces: readonly string[], start: number): { madeUp?: string; end: number } {
    let longest: { madeUp?: string; end: number } = { end: start + 1 }
    let node: Node | undefined = this.#root
    for (let at = start; at < pieces.length; at++) {
      node = node.next.get(pieces[at]!.toLowerCase())
      if (!node) break
      const { madeUp, exactly } = node
      if (madeUp === undefined) continue
      const isMention = pieces[start - 1] === '*' && pieces[at + 1] === '*'
      if (exactly === undefined || isMention || exactly === pieces.slice(start, at + 1).join(''))
        longest = { madeUp, end: at + 1 }
    }
    return longest
  }
}

/** Of a name; more than any name or address has. A text takes at most so many steps for each of its pieces. */
const mostPieces = 100

/** Letters of scripts that put no space after a name. */
const unspaced = String.raw`[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmr}\p{scx=Mymr}]`
const anyUnspaced = new RegExp(unspaced, 'u')
const anyPiece = new RegExp(String.raw`(?:(?!${unspaced})[\p{L}\p{N}\p{M}])+|[^]`, 'gu')

/** Words, each character between them, and each letter where words have no spaces between them. */
function piecesOf(text: string): string[] {
  return text.normalize('NFC').match(anyPiece) ?? []
}

/** Too many words are the same as a name of two Latin letters, or of one Chinese character. */
function isShort(name: string): boolean {
  return name.length <= (anyUnspaced.test(name) ? 1 : 2)
}

/** IDs are others in the world that the seed makes; files stay where they are. */
function withoutIds(text: string): string {
  return text.replace(/(@_?\*\*[^*|]+)\|\d+\*\*/g, '$1**').replace(/\]\(\/user_uploads\/[^)\]]*\)/g, '](#)')
}

function partOf({ fullName }: Disguise, index: number): string {
  const parts = fullName.split(' ')
  return parts[Math.min(index, 1)]!
}

/**
 * Letters of all scripts. Where words have no spaces between them, those next to an address are taken for a part of it: better that than to leave a
 * part of it in the text. The bounds keep the time in proportion to the text.
 */
const anyAddress = /[\p{L}\p{N}\p{M}_.+-]{1,64}@[\p{L}\p{N}\p{M}_-]{1,63}(?:\.[\p{L}\p{N}\p{M}_-]{1,63}){1,5}/gu

function madeUpAddress(address: string, salt: Uint8Array): string {
  return `someone-${hashAddress(address, salt).toString('hex', 0, 4)}@example.com`
}

function hashAddress(address: string, salt: Uint8Array): Buffer {
  return createHmac('sha256', salt).update(address.toLowerCase()).digest()
}
