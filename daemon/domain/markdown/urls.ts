// Which addresses may become links, where a bare one ends, and how places are written in the fragment of ours.

const schemes = new Set(['http', 'https', 'mailto', 'tel', 'sms'])

/** An address that is allowed in `href`; undefined for what could run or what nobody can mean. */
export function safeUrl(url: string, ownUrl = ''): string | undefined {
  // Browsers skip control characters inside a scheme.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what it is about
  if (url === '' || /[\u0000- \u007f-\u009f\\]/.test(url)) return undefined
  if (ownUrl !== '' && url.startsWith(ownUrl)) {
    const rest = url.slice(ownUrl.length)
    if (rest.startsWith('/#narrow/')) return rest.slice(1)
    if (rest.startsWith('#narrow/')) return rest
  }
  const colon = url.search(/[:/?#]/)
  if (colon < 0 || url[colon] !== ':') return url
  return schemes.has(url.slice(0, colon).toLowerCase()) ? url : undefined
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: what `safeUrl` refuses ends an address
const bareUrl = /https?:\/\/[^\s<>"`\\\u0000-\u001f\u007f-\u009f]+/iy

/** The end of a bare address that starts here, without the punctuation of the sentence around it. */
export function bareUrlEnd(text: string, start: number, max = text.length): number | undefined {
  bareUrl.lastIndex = start
  const found = bareUrl.exec(text)
  if (!found) return undefined
  let end = Math.min(start + found[0].length, max)
  let open = 0
  for (let at = start; at < end; at++) open += text[at] === '(' ? 1 : text[at] === ')' ? -1 : 0
  for (; ; end--) {
    const last = text[end - 1]!
    // A closing parenthesis belongs to the address only if it was opened there.
    if (last === ')' && open < 0) open++
    else if (!/[.,:;!?'*~\]}]/.test(last)) break
  }
  return end > start + found[0].indexOf('//') + 2 ? end : undefined
}

/** As clients write places: percent-encoded, with dots for percent signs. */
export function encodeForFragment(text: string): string {
  return encodeURIComponent(text.toWellFormed())
    .replace(/[!'()*.]/g, char => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('%', '.')
}

export function channelUrl({ id, name }: { readonly id: number; readonly name: string }): string {
  return `/#narrow/channel/${id}-${encodeForFragment(name.replaceAll(' ', '-'))}`
}

export function messageUrl(
  channel: { readonly id: number; readonly name: string },
  topic: string,
  messageId: number,
): string {
  return `${channelUrl(channel)}/topic/${encodeForFragment(topic)}/near/${messageId}`
}
