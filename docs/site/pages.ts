// The pages of the site: the Markdown of the project, with its references in one page per entry.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { eventTypes } from '../../daemon/api/event-types.ts'
import { anchor } from '../generate/markdown.ts'
import { root } from '../generate/sources.ts'
import { type Entry, findFirstSentence, type Split, splitByHeading, splitByRow } from './split.ts'

export type Kind = 'guide' | 'reference' | 'endpoint' | 'control' | 'subcommand' | 'error' | 'event' | 'decision'

export interface SitePage {
  /** Its file, below the folder of the site. */
  readonly path: string
  readonly kind: Kind
  readonly title: string
  /** Its heading in the list of pages. */
  readonly group: string
  readonly about: string
  /** Without the title. */
  readonly markdown: string
  /** The file that it is from, on which its links depend. */
  readonly source: string
}

export interface Section {
  readonly title: string
  readonly pages: readonly SitePage[]
}

interface Reference {
  readonly folder: string
  readonly kind: Kind
  readonly split: (markdown: string) => Split
}

const isCall = (title: string) => /^(?:GET|POST|PUT|PATCH|DELETE) \//.test(title)

/** References by their file. Each has a folder in the site. */
export const references: Readonly<Record<string, Reference>> = {
  'docs/generated/api.md': { folder: 'api', kind: 'endpoint', split: text => splitByHeading(text, isCall) },
  'docs/generated/control.md': { folder: 'control', kind: 'control', split: text => splitByHeading(text, isCall) },
  'docs/generated/cli.md': { folder: 'cli', kind: 'subcommand', split: splitSubcommands },
  'docs/generated/events.md': { folder: 'events', kind: 'event', split: text => splitByHeading(text, isEvent) },
  'docs/generated/errors.md': { folder: 'errors', kind: 'error', split: text => splitByRow(text, 'Code', 4) },
}

/** Reports on the project itself: long, and of no use beside a daemon. */
const leftOut = ['coverage.md', 'mutation.md', 'proof.md', 'performance.md']

function isEvent(title: string): boolean {
  const [word = ''] = title.replaceAll('`', '').split(/[ ,:/]/, 1)
  return (eventTypes as readonly string[]).includes(word)
}

/** By their first word, if several have it. */
function splitSubcommands(markdown: string): Split {
  const isEntry = (title: string) => title.startsWith('natter ')
  const nouns = splitByHeading(markdown, isEntry).entries.map(({ title }) => title.split(' ')[1]!)
  const groupOf = (title: string) => {
    const noun = title.split(' ')[1]!
    return nouns.filter(other => other === noun).length > 1 ? noun : 'other'
  }
  return splitByHeading(markdown, isEntry, groupOf)
}

/** Every page, in the order of its file and then of its entries. */
export function readPages(): SitePage[] {
  const pages = sources().flatMap((source): SitePage[] => {
    const reference = references[source]
    const text = readFileSync(join(root, source), 'utf8').replace(/<!--.*?-->\n*/gs, '')
    const title = /^# (.*)$/m.exec(text)?.[1] ?? source
    const body = text.replace(/^# .*\n+/m, '')
    if (!reference) return [{ ...placeOf(source), title, about: findFirstSentence(body), markdown: body, source }]
    const { folder, kind, split } = reference
    const { overview, entries } = split(text)
    const markdown = overview.replace(/^# .*\n+/m, '')
    const first: SitePage = {
      path: `${folder}/index.html`,
      kind: 'reference',
      title,
      group: '',
      about: findFirstSentence(body),
      markdown,
      source,
    }
    return [first, ...entries.map(entry => buildPage(entry, folder, kind, source))]
  })
  return [...pages, writeDecisions(pages)]
}

/** The folder has no page of its own. */
function writeDecisions(pages: readonly SitePage[]): SitePage {
  const source = 'docs/decisions'
  const rows = pages
    .filter(({ kind }) => kind === 'decision')
    .map(page => `- [${page.title}](${page.source.slice('docs/'.length)})`)
  return {
    path: 'decisions/index.html',
    kind: 'reference',
    title: 'Decisions',
    group: '',
    about: 'Why Natter is built this way.',
    markdown: `Why Natter is built this way: one record for each choice that may have to be undone.\n\n${rows.join('\n')}\n`,
    source,
  }
}

function buildPage({ title, group, about, markdown }: Entry, folder: string, kind: Kind, source: string): SitePage {
  const name = title
    .toLowerCase()
    .replace(/^natter |`/g, '')
    .replace(/[^a-z0-9_]+/g, '-')
    .replace(/^-|-$/g, '')
  return { path: `${folder}/${name}.html`, kind, title: title.replaceAll('`', ''), group, about, markdown, source }
}

function sources(): string[] {
  const pagesIn = (folder: string) =>
    readdirSync(join(root, folder))
      .filter(name => name.endsWith('.md') && !leftOut.includes(name))
      .sort()
      .map(name => `${folder}/${name}`)
  return [
    'README.md',
    ...pagesIn('docs'),
    ...pagesIn('docs/generated'),
    'CHANGELOG.md',
    'CONTRIBUTING.md',
    'SECURITY.md',
    ...pagesIn('docs/decisions'),
  ]
}

function placeOf(source: string): Pick<SitePage, 'path' | 'kind' | 'group'> {
  if (source === 'README.md') return { path: 'index.html', kind: 'guide', group: '' }
  if (source === 'docs/README.md') return { path: 'pages.html', kind: 'guide', group: '' }
  const name = source.slice(source.lastIndexOf('/') + 1, -'.md'.length).toLowerCase()
  if (source.startsWith('docs/decisions/'))
    return { path: `decisions/${name}.html`, kind: 'decision', group: 'Decisions' }
  if (source.startsWith('docs/generated/')) return { path: `reference/${name}.html`, kind: 'reference', group: '' }
  return { path: `${name}.html`, kind: 'guide', group: '' }
}

/** The list of pages: in the groups and the order of docs/README.md; what it does not name comes last. */
export function buildSections(pages: readonly SitePage[]): Section[] {
  const index = 'docs/README.md'
  const text = existsSync(join(root, index)) ? readFileSync(join(root, index), 'utf8') : ''
  const left = new Map(pages.filter(isListed).map(page => [page.source, page]))
  const take = (source: string) => {
    const page = left.get(source)
    left.delete(source)
    return page ? [page] : []
  }
  const [home, ...sections] = [
    { title: '', pages: [...take('README.md'), ...take(index)] },
    ...text
      .split(/^## /m)
      .slice(1)
      .map(part => ({
        title: part.slice(0, part.indexOf('\n')),
        pages: [...part.matchAll(/\]\(([^)#]+\.md)\)/g)].flatMap(([, file]) => take(posix.join(dirname(index), file!))),
      })),
  ]
  const rest = { title: sections.length > 0 ? 'More' : 'Guides', pages: [...left.values()] }
  return [home!, ...sections, rest].filter(section => section.pages.length > 0)
}

/** Entries of references and decisions are too many for the list. */
function isListed({ kind }: SitePage): boolean {
  return kind === 'guide' || kind === 'reference'
}

/** Where the site has what a link in the Markdown of the project leads to: by file, and by file and heading. */
export function findTargets(pages: readonly SitePage[]): ReadonlyMap<string, string> {
  const targets = new Map<string, string>()
  for (const { path, kind, source, title } of pages) {
    if (isEntry(kind)) targets.set(`${source}#${anchor(title)}`, path)
    else targets.set(source, path)
  }
  return targets
}

export function isEntry(kind: Kind): boolean {
  return Object.values(references).some(reference => reference.kind === kind)
}
