// Finds what linkifiers turn into links. Patterns run in linear time.

import { RE2JS } from 're2js'
import { parseTemplate } from 'url-template'
import type { Linkifier } from '../model/organization-records.ts'
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
  readonly template: { expand(values: Record<string, string>): string }
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

/** From left to right, bounded on both sides. */
export function* matchesOf(linkifier: Linkifier, text: string): Generator<LinkMatch> {
  const { pattern, groups, template } = compiled(linkifier)
  const matcher = pattern.matcher(text)
  for (let from = 0; from <= text.length && matcher.find(from); ) {
    const start = matcher.start(2)
    const end = matcher.end(2)
    // The character after one match may be the one before the next.
    from = end > start ? end : end + 1
    const values: Record<string, string> = {}
    for (const name of groups) values[name] = matcher.group(name) ?? ''
    const url = template.expand(values)
    if (end > start && !isDangerous(url)) yield { start, end, url }
  }
}

const cache = new WeakMap<Linkifier, Compiled>()

function compiled(linkifier: Linkifier): Compiled {
  let found = cache.get(linkifier)
  if (!found) {
    const groups = Object.keys(RE2JS.compile(linkifier.pattern).namedGroups())
    const bounded = `(^|[\\s\\pZ'"(,:<])((?:${linkifier.pattern}))($|[^\\pL\\pN])`
    found = { pattern: RE2JS.compile(bounded), groups, template: parseTemplate(linkifier.urlTemplate) }
    cache.set(linkifier, found)
  }
  return found
}

/** Text of a message may end up at the start of a URL: it must not become a script. */
function isDangerous(url: string): boolean {
  return /^(javascript|data|vbscript):/i.test(url.replace(/[\s\p{Cc}]/gu, ''))
}

// --- checking new ones ------------------------------------------------------------------------------------------

/** Names of the pattern's groups, or what is wrong with it. */
export function groupsOfPattern(pattern: string): { readonly names: string[] } | { readonly problem: string } {
  try {
    return { names: Object.keys(RE2JS.compile(pattern).namedGroups()) }
  } catch (error) {
    return { problem: (error as Error).message.replace('error parsing regexp: ', '') }
  }
}

/** Names of the template's variables; undefined when it is not RFC 6570. */
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
  const literal = /^(?:[^\p{Cc}\s"<>\\^`{|}%]|%[0-9A-Fa-f]{2})*$/u.test(rest)
  return literal && !names.includes('') ? [...new Set(names)] : undefined
}
