// Pictures and players: what a link to an image, video or audio file shows besides the link.

import type { Token } from 'markdown-it'
import { element, openTag } from './html.ts'
import { mediaAddress, rawAddress, youtubeId } from './media-sites.ts'
import type { Env, Upload } from './render-context.ts'

const maxPreviews = 24
const imagePath = /\.(?:bmp|gif|jpe|jpeg|jpg|png|webp)$/i
const videoPath = /\.(?:mp4|webm)$/i
const movPath = /\.mov$/i
const audioPath = /\.(?:mp3|m4a|aac|flac|wav|ogg|oga|opus)$/i

/** The path of an uploaded file, if the link is to one. */
function uploadPath(href: string, ownUrl: string): string | undefined {
  const [site, own] = [stripScheme(href), stripScheme(ownUrl)]
  const isOwn = own !== '' && site !== href && site.startsWith(`${own}/`)
  const path = isOwn ? site.slice(own.length) : href.replace(/^user_uploads\//, '/$&')
  return path.startsWith('/user_uploads/') ? path.replace(/[?#].*$/s, '') : undefined
}

/** The public server knows its own files by their host, whatever the scheme. */
function stripScheme(url: string): string {
  return url.replace(/^(?:https?:)?\/\//i, '')
}

/** Takes note of a link, and gives what is to be shown below its paragraph. */
export function linkPreview(env: Env, href: string, title: string): string | undefined {
  const { findings, context } = env
  findings.hasLink = true
  const path = uploadPath(href, context.ownUrl)
  if (path !== undefined) findings.uploads.add(path)
  const picture = path === undefined ? /^https?:/i.test(href) && imagePath.test(stripQuery(href)) : isImage(env, path)
  if (picture) findings.hasImage = true
  if (env.quoted || !context.imagePreviews) return undefined
  const upload = path === undefined ? undefined : context.upload(path)
  const media = mediaAddress(href)
  const caption = media === href && title !== '' ? title : undefined
  if (picture && (path === undefined || upload))
    return previewBox(
      'message_inline_image',
      { href: media, title: caption },
      imageTag(path ?? rawAddress(media), upload),
    )
  if (isVideo(env, stripQuery(href)) && (path === undefined || upload)) {
    const video = element('video', { preload: 'metadata', src: media })
    return previewBox('message_inline_image message_inline_video', { href: media, title: caption }, video)
  }
  const id = youtubeId(href)
  if (id === undefined) return undefined
  findings.hasImage = true
  const still = openTag('img', { src: `https://i.ytimg.com/vi/${id}/mqdefault.jpg` })
  return previewBox(`${playerClass} message_inline_image`, { 'data-id': id, href }, still)
}

const playerClass = 'youtube-video'

/** What is played elsewhere: its address stays beside it. */
function isPlayer(preview: string): boolean {
  return preview.startsWith(`<div class="${playerClass} `)
}

/**
 * Below each paragraph the previews of its links; each once, and none if there are too many. A paragraph that is only the address
 * of what is shown is left out.
 */
export function withPreviews(tokens: readonly Token[], previews: ReadonlyMap<Token, readonly string[]>): Token[] {
  if (previews.size === 0 || new Set([...previews.values()].flat()).size > maxPreviews) return [...tokens]
  const made: Token[] = []
  const shown = new Set<string>()
  let waiting: string[] = []
  for (const token of tokens) {
    waiting.push(...(previews.get(token) ?? []))
    const inline = made.at(-1)
    made.push(token)
    // Cells and headings wait for the end of what they are in.
    if (!['paragraph_close', 'table_close', 'heading_close'].includes(token.type)) continue
    const fresh = [...new Set(waiting)].filter(html => !shown.has(html))
    waiting = []
    if (fresh.length === 0) continue
    for (const html of fresh) shown.add(html)
    if (token.type === 'paragraph_close' && isAddressOnly(inline) && !isPlayer(fresh[0]!)) made.splice(-3)
    made.push(boxes(token, fresh))
  }
  return made
}

function isAddressOnly(inline: Token | undefined): boolean {
  const [open, text, close, more] = inline?.children ?? []
  return close?.markup === 'bare' && more === undefined && open?.attrGet('href') === text?.content
}

export function audioPlayer(env: Env, href: string, title: string): string | undefined {
  const path = uploadPath(href, env.context.ownUrl)
  const upload = path === undefined ? undefined : env.context.upload(path)
  if (upload ? !upload.contentType.startsWith('audio/') : !audioPath.test(stripQuery(href))) return undefined
  env.findings.hasLink = true
  if (path !== undefined) env.findings.uploads.add(path)
  const original = path === undefined ? href : undefined
  return element('audio', { controls: true, 'data-original-url': original, preload: 'metadata', src: href, title })
}

/** The image that Markdown image syntax shows; undefined where the syntax stays text. */
export function inlineImage(env: Env, href: string, alt: string, title: string): string | undefined {
  const { findings, context } = env
  if (!context.rules?.imagesInMarkdown) return undefined
  const path = uploadPath(href, context.ownUrl)
  if (path === undefined) {
    if (context.rules.imagesOfUploadsOnly) return undefined
    return openTag('img', { alt, 'data-original-src': href, src: href, title: title === '' ? undefined : title })
  }
  findings.uploads.add(path)
  const upload = context.upload(path)
  if (!upload || !isImage(env, path)) return undefined
  findings.hasImage = true
  return openTag('img', {
    alt,
    class: 'inline-image',
    ...describeOriginal(upload),
    'data-original-src': path,
    src: path,
    title: title === '' ? undefined : title,
  })
}

function boxes(after: Token, html: readonly string[]): Token {
  const token = Object.assign(Object.create(Object.getPrototypeOf(after) as object), after) as Token
  return Object.assign(token, {
    type: 'html_block',
    tag: '',
    nesting: 0,
    content: html.join(''),
  })
}

function previewBox(kind: string, link: Readonly<Record<string, string | undefined>>, inside: string): string {
  return element('div', { class: kind }, element('a', link, inside))
}

// OPEN: the daemon does not scale or fetch pictures: uploads and pictures elsewhere are shown as they are. Websites have
// no previews, but videos of YouTube have, whose stills need no fetching.
function imageTag(href: string, upload: Upload | undefined): string {
  if (!upload) return openTag('img', { src: href })
  return openTag('img', { ...describeOriginal(upload), src: href })
}

function describeOriginal({ contentType, width, height }: Upload) {
  return {
    'data-original-content-type': contentType,
    'data-original-dimensions': width !== undefined && height !== undefined ? `${width}x${height}` : undefined,
  }
}

/** Whether browsers play it is known by its name, as for links to other servers. */
function isVideo({ context }: Env, path: string): boolean {
  return videoPath.test(path) || (context.rules?.movFilesAreVideos === true && movPath.test(path))
}

function isImage(env: Env, path: string): boolean {
  const upload = env.context.upload(path)
  return upload ? /^image\/(?!svg)/.test(upload.contentType) : imagePath.test(path)
}

function stripQuery(href: string): string {
  return href.replace(/[?#].*$/s, '')
}
