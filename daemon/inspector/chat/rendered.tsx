// The rendered HTML of a message, as the sanitiser leaves it, with pictures that need the account's key.

import DOMPurify from 'dompurify'
import { useEffect, useRef } from 'preact/hooks'
import { attempt } from '../parts/controls.tsx'
import { conversationIn, writeHref } from '../route.ts'
import { actor, ask, call, site } from '../session.ts'

const allowed = {
  ALLOWED_TAGS: (
    'a abbr b blockquote br code del details div em h1 h2 h3 h4 h5 h6 hr i img li ol p pre s span strong sub summary sup ' +
    'table tbody td th thead time tr u ul'
  ).split(' '),
  ALLOWED_ATTR: [
    'href',
    'title',
    'class',
    'src',
    'alt',
    'datetime',
    'start',
    'colspan',
    'rowspan',
    'data-original-src',
  ],
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  // Names of ours must not be taken by a message.
  SANITIZE_NAMED_PROPS: true,
  RETURN_DOM_FRAGMENT: true,
} as const

/** Classes of the page itself mean something else. */
const prefix = 'm-'

export function Rendered({ html }: { html: string }) {
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const abort = new AbortController()
    const clean = DOMPurify.sanitize(html, allowed as never) as unknown as DocumentFragment
    for (const element of clean.querySelectorAll('*')) prepare(element, abort.signal)
    box.current!.replaceChildren(clean)
    return () => abort.abort()
  }, [html])
  return <div class="rendered" ref={box} />
}

function prepare(element: Element, abort: AbortSignal): void {
  const classes = element.getAttribute('class')
  if (classes)
    element.setAttribute(
      'class',
      classes
        .split(/\s+/)
        .map(name => prefix + name)
        .join(' '),
    )
  if (element instanceof HTMLAnchorElement) prepareLink(element)
  if (element instanceof HTMLImageElement) prepareImage(element, abort)
}

function prepareLink(link: HTMLAnchorElement): void {
  const href = link.getAttribute('href') ?? ''
  const inside = conversationIn(href)
  if (inside) {
    link.setAttribute('href', writeHref('conversations', ...inside))
    return
  }
  link.rel = 'noopener noreferrer'
  link.target = '_blank'
  const path = uploadPath(href)
  if (!path) return
  // A browser cannot send the key with a link, so the daemon is asked for a temporary address. It serves files in a sandbox.
  link.addEventListener('click', event => {
    event.preventDefault()
    void attempt(async () => {
      const { url } = await call('GET', path)
      open(`${site}${url}`, '_blank', 'noopener')
    })
  })
}

function prepareImage(image: HTMLImageElement, abort: AbortSignal): void {
  const source = image.getAttribute('src') ?? ''
  image.removeAttribute('src')
  image.loading = 'lazy'
  if (!image.alt) image.alt = image.title || 'picture'
  const path = uploadPath(image.getAttribute('data-original-src') ?? source) ?? uploadPath(source)
  if (path) {
    void fetchFile(path, abort).then(
      url => {
        image.src = url
      },
      () => {},
    )
  } else if (/^\/(user_avatars|static)\//.test(source)) image.src = `${site}${source}`
  else {
    // Pictures of other servers are not asked for: the page makes no request elsewhere.
    const text = document.createElement('span')
    text.className = 'outside'
    text.textContent = source ? `picture at ${source}` : image.alt
    image.replaceWith(text)
  }
}

/** Below the site, without the size of a thumbnail; undefined for anything that is not an upload. */
function uploadPath(href: string): string | undefined {
  const path = uploadHref.exec(href.replace(/^user_uploads/, '/$&'))?.[1]?.replace('/thumbnail', '')
  // As fetch reads it: dot segments would lead to another call, made with the key of the account.
  return path !== undefined && new URL(path, 'http://site').pathname.startsWith('/user_uploads/') ? path : undefined
}

const uploadHref = /^(?:https?:\/\/[^/]+(?:\/.*)?)?(\/user_uploads\/[^?#]+)/

const files = new Map<string, Promise<string>>()
/** Files that stay in memory. */
const mostFiles = 200

function fetchFile(path: string, abort: AbortSignal): Promise<string> {
  const { email, api_key } = actor.value!
  const key = `${email} ${path}`
  const known = files.get(key)
  if (known) return known
  const authorization = `Basic ${btoa(String.fromCharCode(...new TextEncoder().encode(`${email}:${api_key}`)))}`
  const found = ask(`${site}${path}`, {
    headers: { Authorization: authorization },
    signal: abort,
  }).then(async response => {
    if (!response.ok) throw new Error(`the file was refused with ${response.status}`)
    return URL.createObjectURL(await response.blob())
  })
  found.catch(() => files.delete(key))
  if (files.size >= mostFiles) files.delete(files.keys().next().value!)
  files.set(key, found)
  return found
}
