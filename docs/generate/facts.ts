// facts.md: every fact the journal can hold. Facts are types only, so their fields are read from the text of the source;
// the tables of `apply` say which facts there are, and the two must agree.

import { resources } from '../../daemon/domain/index.ts'
import { code, codeBlock, page, table } from './markdown.ts'
import { type SourceFile, sourceFiles } from './sources.ts'

interface FactText {
  readonly type: string
  readonly file: string
  readonly fields: readonly (readonly [name: string, type: string])[]
}

/** Facts that the event queues and the engine apply themselves. */
const queueFactsFile = 'daemon/domain/model/facts/queues.ts'

export function factsPage(): string {
  const files = sourceFiles('daemon/domain')
  const facts = files.flatMap(factsIn)
  checkComplete(facts)
  const records = recordsUsedBy(facts, files)
  return page(
    'Facts',
    'What the journal holds: one entry a line, each with the facts of one command. Fields besides `type`.',
    table(
      ['Fact', 'Fields', 'Defined in'],
      facts.map(({ type, file, fields }) => [
        code(type),
        fields.map(([name, text]) => code(`${name}: ${text}`)).join(', '),
        code(file),
      ]),
    ),
    '## Records',
    [
      'What the fields above are made of. Of the rows, `maybe` marks a field that can be absent; `id`, `userId`, `count`, `int` and `time` are numbers,',
      '`label`, `longText` and `fileName` texts.',
    ].join('\n'),
    codeBlock('ts', records.join('\n\n')),
  )
}

function factsIn({ path, text }: SourceFile): FactText[] {
  const facts: FactText[] = []
  for (const found of text.matchAll(/\{\s*readonly type:\s*\|?\s*('[\w.-]+'(?:\s*\|\s*'[\w.-]+')*)/g)) {
    const body = balanced(text, found.index)
    const fields = fieldsIn(body).filter(([name]) => name !== 'type')
    for (const [, type] of found[1]!.matchAll(/'([\w.-]+)'/g)) facts.push({ type: type!, file: path, fields })
  }
  return facts
}

function checkComplete(facts: readonly FactText[]): void {
  const applied = resources.flatMap(resource => Object.keys(resource.apply))
  const declared = facts.filter(({ file }) => file !== queueFactsFile).map(({ type }) => type)
  const missing = applied.filter(type => !declared.includes(type))
  const idle = declared.filter(type => !applied.includes(type))
  if (missing.length > 0)
    throw new Error(`no declaration was found in daemon/domain for the facts ${missing.join(', ')}`)
  if (idle.length > 0) throw new Error(`no resource of daemon/domain/index.ts applies the facts ${idle.join(', ')}`)
}

/** Interfaces and rows the fields name, and those that these name, in the order of the files. */
function recordsUsedBy(facts: readonly FactText[], files: readonly SourceFile[]): string[] {
  const known = new Map<string, string>()
  const shapeOf = new Map<string, string>()
  for (const { path, text } of files)
    if (path.startsWith('daemon/domain/model/rows/')) {
      for (const found of text.matchAll(/^(?:export )?const (\w+) = (?:row\()?\{/gm))
        known.set(found[1]!, `${found[1]} = ${balanced(text, found.index)}`)
      for (const [, type, shape] of text.matchAll(/^export type (?:Saved(?=Message))?(\w+) = RowOf<typeof (\w+)>/gm))
        shapeOf.set(type!, shape!)
    } else if (path.startsWith('daemon/domain/model/'))
      for (const found of text.matchAll(/^export interface (\w+)( extends [\w, ]+)? \{/gm))
        known.set(found[1]!, `interface ${found[1]}${found[2] ?? ''} ${balanced(text, found.index)}`)
  const used = new Set<string>()
  const visit = (text: string): void => {
    for (const [word] of withoutComments(text).matchAll(/\b[A-Za-z]\w+\b(?!\??:)/g)) {
      const name = shapeOf.get(word) ?? word
      if (!known.has(name) || used.has(name)) continue
      used.add(name)
      visit(known.get(name)!)
    }
  }
  for (const { fields } of facts) for (const [, type] of fields) visit(type)
  return [...known].filter(([name]) => used.has(name)).map(([, text]) => text.replaceAll('readonly ', ''))
}

/** From the first brace at or after the place to the one that closes it. */
function balanced(text: string, from: number): string {
  const start = text.indexOf('{', from)
  let depth = 0
  for (let i = start; i < text.length; i++) {
    if (text[i] === '{') depth++
    else if (text[i] === '}' && --depth === 0) return text.slice(start, i + 1)
  }
  throw new Error(`a brace is never closed: ${text.slice(start, start + 60)}`)
}

function withoutComments(text: string): string {
  return text.replace(/\/\*.*?\*\/|\/\/[^\n]*/gs, '')
}

function fieldsIn(body: string): (readonly [string, string])[] {
  const bare = withoutComments(body.slice(1, -1))
  const fields: (readonly [string, string])[] = []
  for (const part of split(bare)) {
    const field = /^\s*readonly (\w+\??):\s*(.*?)\s*$/s.exec(part)
    if (field) fields.push([field[1]!, field[2]!.replace(/\s+/g, ' ').replaceAll('readonly ', '')])
  }
  return fields
}

/** At semicolons, and at line ends that begin another field, outside of any bracket. */
function split(text: string): string[] {
  const parts: string[] = []
  let start = 0
  let depth = 0
  for (let i = 0; i < text.length; i++) {
    if ('{[(<'.includes(text[i]!)) depth++
    else if ('}])'.includes(text[i]!) || (text[i] === '>' && text[i - 1] !== '=')) depth--
    const ends = text[i] === ';' || (text[i] === '\n' && /^\s*readonly \w+\??:/.test(text.slice(i)))
    if (depth !== 0 || !ends) continue
    parts.push(text.slice(start, i))
    start = i + 1
  }
  return [...parts, text.slice(start)]
}
