// Markdown to HTML: links lead to pages of the site, names of endpoints, subcommands and errors become links, and wide tables can be read on a phone.

import { dirname, posix } from 'node:path'
import MarkdownIt, { type Token } from 'markdown-it'
import { anchor } from '../generate/markdown.ts'
import { breakName, relativeTo } from './html.ts'
import { findTargets, isEntry, type SitePage } from './pages.ts'

export interface Heading {
  readonly level: number
  readonly title: string
  readonly id: string
}

export interface Rendered {
  readonly html: string
  readonly headings: readonly Heading[]
  /** Text by the heading that it is below, for the search; the first part has none. */
  readonly texts: readonly { readonly heading: Heading | undefined; readonly text: string }[]
}

export interface Renderer {
  render(page: SitePage): Rendered
  /** Files that pages show, by their path in the repository. */
  readonly pictures: ReadonlySet<string>
}

export function createRenderer(pages: readonly SitePage[]): Renderer {
  const targets = findTargets(pages)
  const named = new Map(pages.filter(({ kind }) => isEntry(kind) && kind !== 'event').map(page => [page.title, page]))
  const titles = new Map(pages.filter(({ kind }) => !isEntry(kind)).map(({ source, title }) => [source, title]))
  const pictures = new Set<string>()
  const markdown = new MarkdownIt({ html: true })

  /** The address of what a link in a page leads to; undefined if the site does not have it. */
  function resolve(page: SitePage, href: string, text: string): string | undefined {
    if (/^[a-z]+:/.test(href)) return href
    const [file, heading] = href.split('#') as [string, string?]
    const source = file === '' ? page.source : posix.join(dirname(page.source), file)
    const entry = named.get(text) ?? named.get(text.replace(/^`|`$/g, ''))
    if (entry?.source === source) return relativeTo(page, entry.path)
    const exact = heading === undefined ? undefined : targets.get(`${source}#${heading}`)
    if (exact) return relativeTo(page, exact)
    const path = targets.get(source)
    if (path === undefined) return undefined
    const fragment = heading === undefined ? '' : `#${heading}`
    return path === page.path && fragment ? fragment : `${relativeTo(page, path)}${fragment}`
  }

  function visit(page: SitePage, tokens: Token[]): void {
    for (const [index, token] of tokens.entries()) {
      if (token.children) visit(page, token.children)
      if (token.type === 'link_open') {
        const close = tokens.findIndex((other, at) => at > index && other.type === 'link_close')
        const text = tokens
          .slice(index + 1, close)
          .map(({ content }) => content)
          .join('')
        const file = decodeURI(String(token.attrGet('href')))
        const href = resolve(page, file, text)
        if (href !== undefined) {
          token.attrSet('href', href)
          // Readers of the site know pages by their titles.
          const title = titles.get(posix.join(dirname(page.source), file))
          if (title && /^[\w./-]+\.md$/.test(text)) tokens[index + 1]!.content = title
        } else {
          // What is not on the site is named, without a link.
          token.tag = 'span'
          token.attrs = null
          tokens[close]!.tag = 'span'
        }
      }
    }
    linkNames(page, tokens)
  }

  /** A code span that is the name of an entry leads to it. */
  function linkNames(page: SitePage, tokens: Token[]): void {
    let depth = 0
    for (const token of tokens) {
      if (token.type === 'link_open') depth++
      if (token.type === 'link_close') depth--
      const target = token.type === 'code_inline' && depth === 0 ? named.get(token.content) : undefined
      if (target && target.path !== page.path) token.meta = relativeTo(page, target.path)
    }
  }

  markdown.renderer.rules.code_inline = (tokens, index) => {
    const { content, meta } = tokens[index]!
    const html = `<code>${breakName(content)}</code>`
    return typeof meta === 'string' ? `<a href="${meta}">${html}</a>` : html
  }
  markdown.renderer.rules.fence = (tokens, index) => {
    const { content, info } = tokens[index]!
    const language = info.split(' ', 1)[0] || 'text'
    return `<div class="code"><pre tabindex="0" data-language="${markdown.utils.escapeHtml(language)}"><code>${colourCode(markdown.utils.escapeHtml(content), language)}</code></pre></div>\n`
  }
  markdown.renderer.rules.table_open = () => '<div class="table" tabindex="0"><table>\n'
  markdown.renderer.rules.table_close = () => '</table></div>\n'
  markdown.renderer.rules.heading_open = (tokens, index) => {
    const { tag, meta } = tokens[index]!
    return `<${tag} id="${meta}">`
  }
  markdown.renderer.rules.heading_close = (tokens, index) => {
    const { tag, meta } = tokens[index]!
    return ` <a class="mark" href="#${meta}" aria-label="Link to this section">#</a></${tag}>\n`
  }
  markdown.renderer.rules.image = (tokens, index, _options, env: { page: SitePage }) => {
    const token = tokens[index]!
    const file = posix.join(dirname(env.page.source), String(token.attrGet('src')))
    // Photographs of screens are larger than all pages together, and the screen is one click away.
    if (!file.endsWith('.svg')) return ''
    pictures.add(file)
    const src = relativeTo(env.page, `pictures/${posix.basename(file)}`)
    return `<img src="${src}" alt="${markdown.utils.escapeHtml(token.content)}" loading="lazy">`
  }

  return {
    pictures,
    render(page) {
      const tokens = markdown.parse(page.markdown, {})
      const headings = labelHeadings(tokens)
      labelCells(tokens)
      visit(page, tokens)
      return {
        html: markdown.renderer.render(tokens, markdown.options, { page }).replaceAll('<p></p>\n', ''),
        headings,
        texts: collectTexts(tokens, headings),
      }
    },
  }
}

function labelHeadings(tokens: readonly Token[]): Heading[] {
  const found: Heading[] = []
  for (const [index, token] of tokens.entries()) {
    if (token.type !== 'heading_open') continue
    const title = plainText(tokens[index + 1]!)
    const heading = { level: Number(token.tag.slice(1)), title, id: anchor(title) }
    const close = tokens.slice(index).find(({ type }) => type === 'heading_close')!
    token.meta = heading.id
    close.meta = heading.id
    found.push(heading)
  }
  return found
}

/** On a phone each row is a block, and its cells say what they are. */
function labelCells(tokens: readonly Token[]): void {
  let head: string[] = []
  let column = 0
  for (const [index, token] of tokens.entries()) {
    if (token.type === 'thead_open') head = []
    if (token.type === 'tr_open') column = 0
    if (token.type === 'th_open') {
      head.push(plainText(tokens[index + 1]!))
      // A heading without words is none.
      if (head.at(-1) === '') for (const part of [token, tokens[index + 2]!]) part.tag = 'td'
    }
    if (token.type === 'td_open') token.attrSet('data-label', head[column++] ?? '')
  }
}

function collectTexts(tokens: readonly Token[], headings: readonly Heading[]): Rendered['texts'] {
  const texts: { heading: Heading | undefined; text: string }[] = [{ heading: undefined, text: '' }]
  let at = 0
  for (const [index, token] of tokens.entries()) {
    if (token.type === 'heading_open') texts.push({ heading: headings[at++], text: '' })
    if (token.type === 'fence') texts.at(-1)!.text += ` ${token.content}`
    if (token.type === 'inline' && tokens[index - 1]?.type !== 'heading_open')
      texts.at(-1)!.text += ` ${plainText(token)}`
  }
  return texts
}

function plainText({ children, content }: Token): string {
  return (children ?? []).length === 0
    ? content
    : children!.map(part => (part.type === 'softbreak' ? ' ' : part.content)).join('')
}

/** Comments and strings of shell and JSON; enough to find one's way in an example. */
function colourCode(html: string, language: string): string {
  if (language === 'sh' || language === 'console')
    return html.replace(/(^|\s)(#[^\n]*)|(&quot;.*?&quot;|'[^'\n]*')/g, (all, space, comment, text) =>
      comment ? `${space}<i>${comment}</i>` : text ? `<b>${text}</b>` : all,
    )
  if (language === 'json' || language === 'js' || language === 'ts' || language === 'py' || language === 'python')
    return html.replace(/(&quot;.*?&quot;|'[^'\n]*')/g, '<b>$1</b>')
  return html
}
