// JSON as people read it: checked, and indented from its own text, so that numbers and the order of keys stay as they were sent.

interface Broken {
  /** Where it is broken, as an editor counts. */
  readonly line: number
  readonly column: number
}

/** Where a text stops being JSON; undefined if it is JSON. */
export function brokenAt(text: string): Broken | undefined {
  try {
    JSON.parse(text)
    return undefined
  } catch {
    const position = firstMistake(text)
    const before = text.slice(0, position)
    return { line: before.split('\n').length, column: position - before.lastIndexOf('\n') }
  }
}

/** White space, then a text, a number, a word or a sign. */
const token =
  /\s*(?:(?<text>"[^"\\]*(?:\\.[^"\\]*)*")|(?<plain>-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)|(?<sign>[{}[\],:]))/y

/** What can come next. The parser of the engine does not always say where it stopped. */
type Expected = 'value' | 'item' | 'member' | 'key' | ':' | 'end'

function firstMistake(text: string): number {
  const open: string[] = []
  let expected: Expected = 'value'
  token.lastIndex = 0
  for (let at = 0; ; at = token.lastIndex) {
    const found = token.exec(text)
    if (!found) return at + /^\s*/.exec(text.slice(at))![0].length
    const { text: quoted, sign } = found.groups!
    const next = follow(expected, sign ?? (quoted === undefined ? 'plain' : 'text'), open)
    if (next === undefined) return found.index + found[0].length - found[0].trimStart().length
    expected = next
  }
}

/** What can come after this; undefined if it cannot come here. */
function follow(expected: Expected, given: string, open: string[]): Expected | undefined {
  const isValue = expected === 'value' || expected === 'item'
  if (given === '{' || given === '[') {
    if (!isValue) return undefined
    open.push(given === '{' ? '}' : ']')
    return given === '{' ? 'member' : 'item'
  }
  if (given === '}' || given === ']') {
    const closes = expected === 'end' || expected === (given === '}' ? 'member' : 'item')
    return closes && open.pop() === given ? 'end' : undefined
  }
  if (given === ',') return expected === 'end' && open.length > 0 ? (open.at(-1) === '}' ? 'key' : 'value') : undefined
  if (given === ':') return expected === ':' ? 'value' : undefined
  if (isValue) return 'end'
  return given === 'text' && (expected === 'key' || expected === 'member') ? ':' : undefined
}

const tokens = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]|[^\s{}[\],:"]+/g

/** Valid JSON with one value on each line; cut at a line when it gets longer than `most` characters. `ascii` escapes all other characters. */
export function indentJson(
  text: string,
  most: number,
  ascii = false,
): { readonly text: string; readonly cut: boolean } {
  const lines: string[] = []
  let line = ''
  let length = 0
  let depth = 0
  let opened = false
  const end = () => {
    lines.push(line)
    length += line.length + 1
    line = '  '.repeat(depth)
  }
  for (const [token] of text.matchAll(tokens)) {
    if (length + line.length > most) return { text: lines.join('\n'), cut: true }
    const closes = token === '}' || token === ']'
    if (closes) depth--
    // Nothing between the brackets: they stay together.
    if (opened !== closes && (opened || closes)) end()
    opened = token === '{' || token === '['
    if (opened) depth++
    if (token === ':') line += ': '
    else line += token.startsWith('"') && ascii ? escapeText(token) : token
    if (token === ',') end()
  }
  return { text: [...lines, line].join('\n'), cut: false }
}

function escapeText(token: string): string {
  return JSON.stringify(JSON.parse(token)).replace(
    /[^ -~]/g,
    unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
