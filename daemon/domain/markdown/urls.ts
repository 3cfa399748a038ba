// Checks addresses that may become links, and writes the fragments of our own.

import { channelLink, topicLink } from '../../api/links.ts'

/** Those that web pages may handle by the HTML standard, and those of files: none of them runs code. */
const schemes = new Set(
  (
    'http https ftp file bitcoin geo im irc ircs magnet mailto matrix mms news nntp openpgp4fpr sip sms smsto ssh tel urn ' +
    'webcal wtai xmpp'
  ).split(' '),
)

/** An address that is allowed in `href`; undefined for addresses that could run code or lead nowhere. */
export function safeUrl(url: string, ownUrl = ''): string | undefined {
  // Browsers skip control characters inside a scheme.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it is about
  if (url === '' || /[\u0000- \u007f-\u009f\\]/.test(url)) return undefined
  if (ownUrl !== '' && url.startsWith(ownUrl)) {
    const rest = url.slice(ownUrl.length)
    if (rest.startsWith('/#') || rest.startsWith('/user_uploads/')) return rest.slice(1)
    if (rest.startsWith('#narrow/')) return rest
  }
  const colon = url.search(/[:/?#]/)
  if (colon >= 0 && url[colon] === ':') return schemes.has(url.slice(0, colon).toLowerCase()) ? url : undefined
  if (/^[/#]/.test(url)) return url
  return /^[^?#]*@/.test(url) ? `mailto:${url}` : `http://${url}`
}

export function channelUrl(channel: { readonly id: number; readonly name: string }): string {
  return channelLink('', channel)
}

export function messageUrl(
  channel: { readonly id: number; readonly name: string },
  topic: string,
  messageId: number,
): string {
  return `${topicLink('', channel, topic)}/near/${messageId}`
}
