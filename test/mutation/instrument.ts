// Puts every mutant of some sources into them at once, each behind a switch, with the instrumenter of Stryker. It is no
// dependency of the project: `npm install --prefix test/mutation/tools @stryker-mutator/instrumenter@9.6.1`.

import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

export interface Mutant {
  /** What the switch is called. */
  readonly id: string
  readonly file: string
  readonly line: number
  /** The declaration that it is in. */
  readonly within: string
  readonly mutator: string
  readonly original: string
  readonly replacement: string
}

export interface Instrumented {
  readonly mutants: readonly Mutant[]
  /** The sources with all mutants in them, by path. */
  readonly sources: ReadonlyMap<string, string>
}

interface Position {
  readonly line: number
  readonly column: number
}

interface Instrumenter {
  instrument(
    files: readonly { name: string; mutate: true; content: string }[],
    options: object,
  ): Promise<{
    files: readonly { name: string; content: string }[]
    mutants: readonly {
      id: string
      fileName: string
      mutatorName: string
      replacement: string
      location: { start: Position; end: Position }
    }[]
  }>
}

const tools = process.env.NATTER_MUTATION_TOOLS ?? join(import.meta.dirname, 'tools')

export const installation = 'npm install --prefix test/mutation/tools @stryker-mutator/instrumenter@9.6.1'

export function hasInstrumenter(): boolean {
  return existsSync(join(tools, 'node_modules/@stryker-mutator/instrumenter'))
}

export async function instrument(root: string, paths: readonly string[]): Promise<Instrumented> {
  const texts = new Map(paths.map(path => [path, readFileSync(join(root, path), 'utf8')]))
  const files = [...texts].map(([name, content]) => ({ name, mutate: true as const, content }))
  const options = { plugins: null, excludedMutations: [], ignorers: [], noHeader: false }
  const result = await (await loadInstrumenter()).instrument(files, options)
  const mutants = result.mutants.map(({ id, fileName, mutatorName, replacement, location }) => {
    const text = texts.get(fileName)!
    const start = offsetOf(text, location.start)
    return {
      id,
      file: fileName,
      line: location.start.line + 1,
      within: declarationAt(text, start),
      mutator: mutatorName,
      original: onOneLine(text.slice(start, offsetOf(text, location.end))),
      replacement: onOneLine(replacement),
    }
  })
  return {
    mutants: mutants.filter(mutant => !isSentence(mutant)),
    sources: new Map(result.files.map(({ name, content }) => [name, content])),
  }
}

async function loadInstrumenter(): Promise<Instrumenter> {
  const resolve = createRequire(join(tools, 'package.json')).resolve
  const { Instrumenter } = await import(pathToFileURL(resolve('@stryker-mutator/instrumenter')).href)
  const silent = () => {}
  return new Instrumenter({ debug: silent, info: silent, warn: silent, isDebugEnabled: () => false })
}

/** Texts for people: test/laws/wording.test.ts and the generated docs are about them. */
function isSentence({ mutator, original }: Mutant): boolean {
  return mutator === 'StringLiteral' && /\s/.test(original.trim())
}

/** Lines and columns are counted from 0. */
function offsetOf(text: string, { line, column }: Position): number {
  let start = 0
  for (let n = 0; n < line; n++) start = text.indexOf('\n', start) + 1
  return start + column
}

/** The last function, constant, class or method that begins before the place. */
function declarationAt(text: string, place: number): string {
  const before = text.slice(0, place + 1)
  const declarations = before.matchAll(
    /^(?:export )?(?:async )?(?:function\*?|const|let|class|abstract class) (\w+)|^ {2}(?:async |static |get |set |readonly |\*)*(#?\w+)(?:<[^>]*>)?\(.*\{$/gm,
  )
  const [, outer, inner] = [...declarations].at(-1) ?? []
  return outer ?? inner ?? ''
}

function onOneLine(text: string): string {
  return text.replace(/\s+/g, ' ')
}
