// Finds what linkifiers turn into links. Patterns run in linear time.

import { RE2JS } from 're2js'
import { parseTemplate } from 'url-template'
import { costliest, expandedSize, repeatsTooMuch } from '../../api/pattern.ts'
import { limits } from '../limits.ts'
import type { Linkifier } from '../model/rows/organization.ts'
import type { State } from '../model/state.ts'

interface LinkMatch {
  /** UTF-16 positions in the text. */
  readonly start: number
  readonly end: number
  readonly url: string
}

interface Compiled {
  readonly pattern: RE2JS
  readonly groups: readonly string[]
  /** Instructions of the pattern. */
  readonly size: number
  readonly template: { expand(values: Record<string, string>): string }
  /** How often the template uses a variable, at most. */
  readonly uses: number
}

const orders = new WeakMap<State, { readonly version: number; readonly linkifiers: readonly Linkifier[] }>()

/** Every message asks, linkifiers hardly ever change. */
export function linkifiersInOrder(state: State): readonly Linkifier[] {
  const known = orders.get(state)
  if (known?.version === state.linkifiers.version) return known.linkifiers
  const linkifiers = [...state.linkifiers.values()].sort((a, b) => a.order - b.order || a.id - b.id)
  orders.set(state, { version: state.linkifiers.version, linkifiers })
  return linkifiers
}

/**
 * What linkifiers may cost one text, in steps: an instruction of a pattern on a character of text. Counted at their most, which
 * few need; what comes after it stays text. So does what comes after URLs that would not fit into the HTML.
 */
export class LinkifierBudget {
  #left: number
  #characters: number

  /** By default, those of a message. */
  constructor(steps = 8_000_000, characters: number = limits.renderedContent) {
    this.#left = steps
    this.#characters = characters
  }

  spend(steps: number): boolean {
    this.#left -= steps
    return this.#left >= 0
  }

  spendUrl(characters: number): boolean {
    this.#characters -= characters
    return this.#characters >= 0
  }
}

/** How much longer it takes to find where a match begins and ends than to find whether there is one. */
const costOfFinding = 8
/** Characters that a find looks at before it looks further. */
const window = 128

/** From left to right, bounded on both sides. */
export function* findMatches(linkifier: Linkifier, text: string, budget: LinkifierBudget): Generator<LinkMatch> {
  const { pattern, groups, template, uses, size } = compile(linkifier)
  // Most texts hold none.
  if (!budget.spend(size * text.length) || !pattern.test(text)) return
  for (let from = 0; from <= text.length; ) {
    const matcher = next(compile(linkifier), text, from, budget)
    if (!matcher) return
    const start = matcher.start(2)
    const end = matcher.end(2)
    // The character after one match may be the one before the next.
    from = end > start ? end : end + 1
    const values: Record<string, string> = {}
    // Half of a character cannot be part of a URL.
    for (const name of groups) values[name] = (matcher.group(name) ?? '').toWellFormed()
    const longest = Math.max(0, ...Object.values(values).map(({ length }) => length))
    if (!budget.spendUrl(linkifier.urlTemplate.length + uses * longest)) return
    const url = expand(template, values)
    if (end > start && url !== undefined && !isDangerous(url)) yield { start, end, url }
  }
}

/**
 * The first match from there on. Looks at a part of the text before it looks further: a pattern can read all that follows before it
 * matches a little, and would do so for every match.
 */
function next({ pattern, size }: Compiled, text: string, from: number, budget: LinkifierBudget) {
  for (let ahead = window; ; ahead *= 2) {
    const end = Math.min(text.length, from + ahead)
    if (!budget.spend(costOfFinding * size * (end - from))) return undefined
    const matcher = pattern.matcher(text.slice(0, end))
    // What reaches the end of the part may go on after it.
    if (matcher.find(from) && (end === text.length || matcher.end() < end)) return matcher
    if (end === text.length) return undefined
  }
}

const cache = new WeakMap<Linkifier, Compiled>()

function compile(linkifier: Linkifier): Compiled {
  let found = cache.get(linkifier)
  if (!found) {
    const groups = Object.keys(RE2JS.compile(linkifier.pattern).namedGroups())
    const bounded = `(^|[\\s\\pZ'"(,:<])((?:${linkifier.pattern}))($|[^\\pL\\pN])`
    const pattern = RE2JS.compile(bounded)
    const { urlTemplate } = linkifier
    const uses = urlTemplate.split(/[{,]/).length - 1
    found = { pattern, groups, size: pattern.programSize(), template: parseTemplate(urlTemplate), uses }
    cache.set(linkifier, found)
  }
  return found
}

/** Undefined where a prefix such as {id:1} ends inside a character: half of one cannot be part of a URL. */
function expand(template: Compiled['template'], values: Record<string, string>): string | undefined {
  try {
    return template.expand(values)
  } catch {
    return undefined
  }
}

/** Instructions of its pattern. */
export function sizeOf(linkifier: Linkifier): number {
  return compile(linkifier).size
}

/** Text of a message may end up at the start of a URL: it must not become a script. */
function isDangerous(url: string): boolean {
  return /^(javascript|data|vbscript):/i.test(url.replace(/[\s\p{Cc}]/gu, ''))
}

// --- checking new ones ------------------------------------------------------------------------------------------

/** Names of the pattern's groups and its instructions, or what is wrong with it. */
export function groupsOfPattern(
  pattern: string,
): { readonly names: string[]; readonly size: number } | { readonly problem: string } {
  if (expandedSize(pattern) > costliest) return { problem: repeatsTooMuch }
  try {
    const compiled = RE2JS.compile(pattern)
    return { names: Object.keys(compiled.namedGroups()), size: compiled.programSize() }
  } catch (error) {
    return { problem: (error as Error).message.replace('error parsing regexp: ', '') }
  }
}

/** Names of the template's variables; undefined when it is not RFC 6570. A % outside of them may stand for itself. */
export function variablesOfTemplate(template: string): string[] | undefined {
  const names: string[] = []
  const rest = template.replace(/\{([^{}]*)\}/g, (_all, inside: string) => {
    const expression = /^[+#./;?&]?(.+)$/.exec(inside)
    const specs = expression ? expression[1]!.split(',') : ['']
    for (const spec of specs) {
      const name = /^((?:\w|%[0-9A-Fa-f]{2})+(?:\.(?:\w|%[0-9A-Fa-f]{2})+)*)(?::[1-9]\d{0,3}|\*)?$/.exec(spec)?.[1]
      names.push(name ?? '')
    }
    return ''
  })
  const literal = /^[^\p{Cc}\s"<>\\^`{|}]*$/u.test(rest)
  return literal && !names.includes('') ? [...new Set(names)] : undefined
}
