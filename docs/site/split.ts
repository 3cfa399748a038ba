// A reference page in parts: one for each of its entries, and an overview that lists them.

import { anchor, code, table } from '../generate/markdown.ts'

export interface Entry {
  readonly title: string
  /** Entries of one group are beside each other in the list of pages. */
  readonly group: string
  /** Its first sentence. */
  readonly about: string
  readonly markdown: string
}

export interface Split {
  readonly overview: string
  readonly entries: readonly Entry[]
}

interface Section {
  readonly level: number
  readonly title: string
  text: string
}

/** Headings that match are entries. `groupOf` gives groups to entries that are not below a heading of their group. */
export function splitByHeading(
  markdown: string,
  isEntry: (title: string) => boolean,
  groupOf?: (title: string) => string,
): Split {
  const entries: Entry[] = []
  const parts: string[] = []
  let above = ''
  let run: Entry[] = []
  const listRun = () => {
    // Some pages list their entries themselves.
    const isListed = run.length > 0 && parts.some(part => part.includes(`](#${anchor(run[0]!.title)})`))
    if (run.length > 0 && !isListed) parts.push(groupOf ? writeTables(run) : writeTable(run))
    run = []
  }
  let entry: Section | undefined
  const takeEntry = () => {
    if (!entry) return
    const { title, text } = entry
    run.push({ title, group: groupOf?.(title) ?? above, about: findFirstSentence(text), markdown: text.trim() })
    entries.push(run.at(-1)!)
    entry = undefined
  }
  for (const section of findSections(markdown)) {
    if (entry && section.level > entry.level) {
      entry.text += `\n${'#'.repeat(section.level)} ${section.title}\n${section.text}`
      continue
    }
    takeEntry()
    if (isEntry(section.title)) entry = { ...section }
    else {
      listRun()
      above = section.title
      parts.push(`${'#'.repeat(section.level)} ${section.title}`, removeContents(section.text).trim())
    }
  }
  takeEntry()
  listRun()
  return { overview: parts.filter(part => part !== '').join('\n\n'), entries }
}

/** Rows of the tables whose first column has this name are entries; the overview keeps the columns up to `columns`. */
export function splitByRow(markdown: string, first: string, columns: number): Split {
  const entries: Entry[] = []
  let group = ''
  let head: readonly string[] | undefined
  const lines = markdown.split('\n').map(line => {
    group = /^## (.*)/.exec(line)?.[1] ?? group
    if (!line.startsWith('|')) {
      head = undefined
      return line
    }
    const cells = line
      .slice(2, -2)
      .split(' | ')
      .map(cell => cell.trim())
    if (cells[0] === first) head = cells
    else if (head && !line.startsWith('|---')) {
      const title = cells[0]!.replaceAll('`', '')
      const rest = head.map((name, index) => [name, cells[index] ?? ''] as const).slice(1)
      const about = rest.find(([name]) => name === 'Meaning')?.[1] ?? ''
      entries.push({ title, group, about, markdown: describeRow(about, rest) })
      return `| [${cells[0]}](#${anchor(title)}) | ${cells.slice(1, columns).join(' | ')} |`
    }
    return !head
      ? line
      : line.startsWith('|---')
        ? `|${'---|'.repeat(columns)}`
        : `| ${cells.slice(0, columns).join(' | ')} |`
  })
  return { overview: lines.join('\n'), entries }
}

/** A cell with many links becomes a list. */
function describeRow(about: string, cells: readonly (readonly [string, string])[]): string {
  const facts = cells.filter(([, value]) => value !== '' && value !== about)
  const [long, short] = [facts.filter(([, value]) => isList(value)), facts.filter(([, value]) => !isList(value))]
  return [
    about,
    short.map(([name, value]) => `- ${name}: ${value}`).join('\n'),
    ...long.map(([name, value]) => `## ${name}\n\n${value.replaceAll(/^|, (?=\[)/g, '\n- ').trim()}`),
  ].join('\n\n')
}

function isList(value: string): boolean {
  return /^\[.*\), \[/.test(value)
}

function writeTable(entries: readonly Entry[]): string {
  const rows = entries.map(({ title, about }) => [`[${code(title)}](#${anchor(title)})`, about])
  return table(['Name', 'What it does'], rows)
}

function writeTables(entries: readonly Entry[]): string {
  const names = [...new Set(entries.map(({ group }) => group))]
  return names.map(name => `## ${name}\n\n${writeTable(entries.filter(({ group }) => group === name))}`).join('\n\n')
}

/** The lists of entries that the page itself has at its beginning. */
function removeContents(text: string): string {
  return text.replace(/^\|(?: \w+ \|)* What it does \|\n(?:\|.*\n?)+/m, '')
}

/** In the order of the page. Headings in code are none. */
function findSections(markdown: string): Section[] {
  const found: Section[] = []
  let inCode = false
  for (const line of markdown.split('\n')) {
    if (line.startsWith('```')) inCode = !inCode
    const heading = inCode ? null : /^(#{1,6}) (.*)$/.exec(line)
    if (heading) found.push({ level: heading[1]!.length, title: heading[2]!, text: '' })
    else if (found.length > 0) found.at(-1)!.text += `${line}\n`
  }
  return found
}

/** Without links and other marks. */
export function findFirstSentence(markdown: string): string {
  const paragraph = markdown
    .trim()
    .split(/\n\s*\n/, 1)[0]!
    .replaceAll('\n', ' ')
  return removeMarks(/^.*?[.!?](?= [A-Z]|$)/.exec(paragraph)?.[0] ?? paragraph)
}

function removeMarks(markdown: string): string {
  return markdown.replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1').replace(/[`*]/g, '')
}
