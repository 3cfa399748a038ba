// YAML that others can have written, with the line of each part for messages. The library is loaded with the first such text.

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
  const { document, lineAt, findLine } = await parse(text)
  const [error] = document.errors
  if (error) throw new YamlMistake(error.linePos?.[0].line ?? 1, firstLine(error.message))
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

async function parse(text: string) {
  const { isNode, LineCounter, parseDocument } = await import('yaml')
  const lines = new LineCounter()
  // The library compares each key with all others of its map, which takes minutes for a large file.
  const document = parseDocument(text, { lineCounter: lines, uniqueKeys: false })
  const lineAt = (node: unknown) => (isNode(node) && node.range ? lines.linePos(node.range[0]).line : undefined)
  const findLine = (path: Path): number => {
    for (let length = path.length; length > 0; length--) {
      const line = lineAt(document.getIn(path.slice(0, length), true))
      if (line !== undefined) return line
    }
    return 1
  }
  return { document, lineAt, findLine }
}

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
