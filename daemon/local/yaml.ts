// YAML that others can have written, with the line of each part for messages. The library is loaded with the first such text.

import { deepest } from './nesting.ts'

export class YamlMistake extends Error {
  readonly line: number

  constructor(line: number, message: string) {
    super(message)
    this.line = line
  }
}

type Path = readonly (string | number)[]

export interface Yaml {
  readonly value: unknown
  /** The line of the deepest part of the path that is there: something missing is missing from what holds it. */
  findLine(path: Path): number
}

/** Throws a YamlMistake. */
export async function readYaml(text: string): Promise<Yaml> {
  const { isScalar, visit } = await import('yaml')
  const { document, lines, lineAt, findLine } = await parse(text)
  const [error] = document.errors
  if (error) throw new YamlMistake(lines.linePos(error.pos[0]).line, firstLine(error.message))
  visit(document, {
    Map(_, { items }) {
      const names = new Set<unknown>()
      for (const { key } of items) {
        const name = isScalar(key) ? key.value : key
        if (names.has(name)) throw new YamlMistake(lineAt(key) ?? 1, `the key ${name} is there twice`)
        names.add(name)
      }
    },
  })
  return { value: readValue(document), findLine }
}

/** The lines of a text that was read in another way: JSON is YAML, too. */
export async function linesIn(text: string): Promise<Yaml['findLine']> {
  return (await parse(text)).findLine
}

/** The text with every password hidden. */
export async function hidePasswords(text: string): Promise<string> {
  const { isAlias, isScalar, visit } = await import('yaml')
  const { document } = await parse(text)
  visit(document, {
    Pair(_, { key, value }) {
      const secret = isAlias(value) ? value.resolve(document) : value
      if (isScalar(key) && /password/i.test(String(key.value)) && isScalar(secret)) secret.value = '***'
    },
  })
  return document.toString({ lineWidth: 0 })
}

async function parse(text: string) {
  const { isNode, LineCounter, parseDocument } = await import('yaml')
  await checkBounds(text)
  const lines = new LineCounter()
  // The library compares each key with all others of its map, and quotes the line of each error, which takes minutes for a large file; it
  // prints warnings with their text.
  const document = parseDocument(text, {
    lineCounter: lines,
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: 'error',
  })
  const lineAt = (node: unknown) => (isNode(node) && node.range ? lines.linePos(node.range[0]).line : undefined)
  const findLine = (path: Path): number => {
    for (let length = path.length; length > 0; length--) {
      const line = lineAt(document.getIn(path.slice(0, length), true))
      if (line !== undefined) return line
    }
    return 1
  }
  return { document, lines, lineAt, findLine }
}

/** The library takes time that grows with the square of both, and ends the process when its stack is used up. */
async function checkBounds(text: string): Promise<void> {
  const { Lexer, Parser } = await import('yaml')
  const parser = new Parser()
  let line = 1
  let marks = 0
  let before = ''
  for (const lexeme of new Lexer().lex(text)) {
    for (const _ of parser.next(lexeme));
    // The document and the scalar that is being read are on the stack too.
    if (parser.stack.length > deepest + 2) throw new YamlMistake(line, `nested more than ${deepest} levels deep`)
    if (before !== scalarMark && /^[&*!]/.test(lexeme) && ++marks > mostMarks)
      throw new YamlMistake(line, `more than ${mostMarks} anchors, aliases and tags`)
    for (let at = lexeme.indexOf('\n'); at >= 0; at = lexeme.indexOf('\n', at + 1)) line++
    before = lexeme
  }
}

/** Anchors, aliases and tags in a text. */
const mostMarks = 1000
/** What the lexer puts before the text of a scalar. */
const scalarMark = '\u001f'

function readValue(document: { toJS(): unknown }): unknown {
  try {
    return document.toJS()
  } catch (error) {
    // Aliases of aliases, for instance, that would fill the memory.
    throw new YamlMistake(1, firstLine((error as Error).message))
  }
}

function firstLine(message: string): string {
  return message.split('\n', 1)[0]!.replace(/ at line \d+, column \d+:?$/, '')
}
