// Pages of other sites that show one picture or video: where the file itself is, known by the address of the page.

const addressParts = /^https?:\/\/([^/?#]+)([^?#]*)(?:\?([^#]*))?/i

/** What the preview of a link shows and leads to: the file, if the link is to a page around it. */
export function mediaAddress(href: string): string {
  const [, host = '', path = '', query = ''] = addressParts.exec(href) ?? []
  if (/(?:^|\.)dropbox\.com$/.test(host) && path.startsWith('/scl/fi/')) {
    const params = new URLSearchParams(query)
    params.set('raw', '1')
    return `https://${host}${path}?${params}`
  }
  if (/\.wikipedia\.org$/i.test(host) && path.startsWith('/wiki/File:'))
    return href.replace('/wiki/File:', '/wiki/Special:FilePath/File:')
  return host === 'linx.li' ? `https://linx.li/s${path}` : href
}

/** The file behind a page that the preview still leads to. */
export function rawAddress(href: string): string {
  const [, host = '', path = ''] = addressParts.exec(href) ?? []
  const [, repository, file] = /^(\/[^/]*\/[^/]*)\/blob(\/.*)$/.exec(path) ?? []
  const isRepository = /(?:^|\.)github\.com$/.test(host) && repository !== undefined
  return isRepository ? `https://raw.githubusercontent.com${repository}${file}` : href
}

const youtubeHosts = new Set([
  'm.youtube.com',
  'www.youtube.com',
  'www.youtube-nocookie.com',
  'youtube.com',
  'youtube-nocookie.com',
])

/** The ID of the video that a link to YouTube plays. */
export function youtubeId(href: string): string | undefined {
  const [, given = '', path = '', query = ''] = addressParts.exec(href) ?? []
  const host = given.toLowerCase()
  const id = host === 'youtu.be' ? path.slice(1) : youtubeHosts.has(host) ? idInPage(path, query) : undefined
  return id && /^[\w-]+$/.test(id) ? id : undefined
}

function idInPage(path: string, query: string): string | null | undefined {
  if (path === '/watch' || path === '/watch_popup') return new URLSearchParams(query).get('v')
  if (path === '/watch_videos') return new URLSearchParams(query).get('video_ids')?.split(',', 1)[0]
  return /^\/(?:embed|shorts|v)\/([^/]*)/.exec(path)?.[1]
}
