// JSON as people read it: checked, and indented from its own text, so that numbers and the order of keys stay as they were sent.

/** Where a text stops being JSON, as an editor counts. */
export function findMistake(text: string): { readonly line: number; readonly column: number } {
  const position = firstMistake(text)
  const before = text.slice(0, position)
  return { line: before.split('\n').length, column: position - before.lastIndexOf('\n') }
}

/** A text, a number or a word. */
const textOrPlain = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y

/** What can come next. The parser of the engine does not always say where it stopped. */
type Expected = 'value' | 'item' | 'member' | 'key' | ':' | 'end'

/** Looks for signs and white space without a pattern: there can be a million of them. */
function firstMistake(text: string): number {
  const open: string[] = []
  let expected: Expected | undefined = 'value'
  let at = 0
  while (at < text.length) {
    const first = text[at]!
    let end = at + 1
    if (!isSpace(first)) {
      const sign = isSign(first)
      if (!sign) end = endOfMatch(textOrPlain, text, at)
      expected = follow(expected, sign ? first : first === '"' ? 'text' : 'plain', open)
      if (end === at || expected === undefined) return at
    }
    at = end
  }
  return at
}

function isSpace(char: string): boolean {
  return char === ' ' || char === '\n' || char === '\t' || char === '\r'
}

function isSign(char: string): boolean {
  return char === ',' || char === ':' || char === '[' || char === ']' || char === '{' || char === '}'
}

/** Where the match that begins here ends; the same place if there is none. */
function endOfMatch(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : at
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
