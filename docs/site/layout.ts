// The HTML around the content of a page: head, search, list of pages, headings of the page.

import { breakName, escapeHtml, relativeTo } from './html.ts'
import type { Kind, Section, SitePage } from './pages.ts'
import { isEntry, references } from './pages.ts'
import type { Rendered } from './render.ts'

export interface Layout {
  readonly sections: readonly Section[]
  readonly pages: readonly SitePage[]
  readonly version: string
}

const names: Readonly<Record<Kind, string>> = {
  guide: '',
  reference: '',
  endpoint: 'Endpoint',
  control: 'Control plane',
  subcommand: 'Subcommand',
  error: 'Error',
  event: 'Event',
  decision: 'Decision',
}

export function layOut(page: SitePage, { html, headings }: Rendered, layout: Layout, tryIt?: object): string {
  const link = (path: string) => relativeTo(page, path)
  const site = link('../').replace(/\/*$/, '/')
  const tabs = Object.values(references)
    .flatMap(({ folder }) => layout.pages.filter(({ path }) => path === `${folder}/index.html`))
    .map(({ path, title }) => [path, title.replace(/ reference$/, '')] as const)
  const contents = headings.filter(({ level }) => level <= 3)
  const hasAside = tryIt !== undefined || contents.length > 2
  return `<!doctype html>
<html lang="en" data-site="${site}" data-root="${link('.') || '.'}/">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="${escapeHtml(page.about)}">
<title>${escapeHtml(page.path === 'index.html' ? 'Natter' : `${page.title} – Natter`)}</title>
<link rel="icon" href="${link('icon.svg')}">
<link rel="stylesheet" href="${link('style.css')}">
<script src="${link('app.js')}"></script>
${tryIt ? `<script src="${link('try-it.js')}" defer></script>\n` : ''}</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header class="top">
<a class="brand" href="${link('index.html')}"><svg viewBox="0 0 64 64" aria-hidden="true"><path d="M8 8h48v36H28L16 56V44H8z"/></svg>Natter <span class="version">${layout.version}</span></a>
<div class="search" role="search"><input type="search" placeholder="Search" aria-label="Search the documentation" autocomplete="off" spellcheck="false"><kbd aria-hidden="true">/</kbd></div>
<nav class="tabs" aria-label="References">${tabs.map(([path, title]) => writeLink(link(path), title, path.split('/')[0] === page.path.split('/')[0])).join('')}</nav>
<button type="button" class="theme" aria-label="Theme"><svg viewBox="0 0 24 24" aria-hidden="true"><path d="M12 4a8 8 0 1 0 0 16zm0 0a8 8 0 0 1 0 16"/></svg></button>
</header>
<div class="columns${hasAside ? '' : ' wide'}">
<details class="pages"><summary>All pages</summary>
<nav aria-label="Pages">
${writeList(page, layout)}
</nav></details>
<main id="content">
${writeCrumbs(page, layout)}<article>
<h1>${writeHeadline(page)}</h1>
${html}</article>
${writeNeighbours(page, layout)}</main>
${hasAside ? `<aside>${tryIt ? `<section id="try-it" aria-label="Try it" data-endpoint="${escapeHtml(JSON.stringify(tryIt))}"></section>` : writeOutline(contents)}</aside>\n` : ''}</div>
</body>
</html>
`
}

/** The pages beside this one: for an entry its reference and the others of its group, otherwise the list of the site. */
function writeList(page: SitePage, { sections, pages }: Layout): string {
  const shown = isEntry(page.kind)
    ? [
        { title: '', pages: [findOverview(page, pages)] },
        { title: page.group, pages: pages.filter(({ kind, group }) => kind === page.kind && group === page.group) },
      ]
    : sections
  return shown
    .map(({ title, pages }) => {
      const heading = title === '' ? '' : `<h2>${escapeHtml(title)}</h2>`
      const items = pages.map(to => `<li>${writeLink(relativeTo(page, to.path), writeName(to), to === page)}</li>`)
      return `${heading}<ul>${items.join('')}</ul>`
    })
    .join('\n')
}

function findOverview({ source }: SitePage, pages: readonly SitePage[]): SitePage {
  return pages.find(page => page.source === source && page.kind === 'reference')!
}

/** As HTML. */
function writeName({ path, title, kind }: SitePage): string {
  if (path === 'index.html') return 'Introduction'
  const call = /^([A-Z]+) (\/.*)$/.exec(title)
  if (call) return `<small>${call[1]}</small> <span>${breakName(call[2]!)}</span>`
  return breakName(kind === 'subcommand' ? title.replace('natter ', '') : title)
}

function writeCrumbs(page: SitePage, { pages }: Layout): string {
  if (!isEntry(page.kind)) return ''
  const overview = findOverview(page, pages)
  return `<p class="crumbs"><a href="${relativeTo(page, overview.path)}">${escapeHtml(overview.title)}</a><span aria-hidden="true"> / </span>${escapeHtml(page.group || names[page.kind])}</p>\n`
}

function writeHeadline({ title, kind }: SitePage): string {
  const call = /^([A-Z]+) (\/.*)$/.exec(title)
  if (call) return `<span class="method">${call[1]}</span> <code>${breakName(call[2]!)}</code>`
  return kind === 'subcommand' || kind === 'error' || kind === 'event'
    ? `<code>${breakName(title)}</code>`
    : escapeHtml(title.replaceAll('`', ''))
}

function writeOutline(headings: Rendered['headings']): string {
  const items = headings.map(
    ({ level, title, id }) => `<li class="level-${level}"><a href="#${id}">${escapeHtml(title)}</a></li>`,
  )
  return `<nav class="outline" aria-label="On this page"><h2>On this page</h2><ul>${items.join('')}</ul></nav>`
}

/** The pages before and after this one, in the order of the list. */
function writeNeighbours(page: SitePage, { sections, pages }: Layout): string {
  const order = page.kind === 'guide' || page.kind === 'reference' ? sections.flatMap(section => section.pages) : pages
  const at = order.indexOf(page)
  const near = (to: SitePage | undefined, rel: 'prev' | 'next') =>
    to?.kind === page.kind || (to && !isEntry(page.kind) && page.kind !== 'decision')
      ? `<a rel="${rel}" href="${relativeTo(page, to!.path)}">${escapeHtml(to!.title)}</a>`
      : ''
  const links = near(order[at - 1], 'prev') + near(order[at + 1], 'next')
  return links === '' ? '' : `<nav class="turn" aria-label="Neighbouring pages">${links}</nav>\n`
}

function writeLink(href: string, html: string, isCurrent = false): string {
  return `<a href="${href}"${isCurrent ? ' aria-current="page"' : ''}>${html}</a>`
}
