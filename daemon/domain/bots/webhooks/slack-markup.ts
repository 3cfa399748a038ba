// From the markup of Slack to Markdown, as public servers translate it.

/** Links and mail addresses in angle brackets, then emphasis. */
export function translateMarkup(text: string): string {
  emphases ??= [
    [emphasis('*'), '**'],
    [emphasis('~'), '~~'],
    [emphasis('_'), '*'],
  ]
  return emphases.reduce(
    (translated, [pattern, mark]) =>
      translated.replace(pattern, (_, before, inner) => `${before}${mark}${inner}${mark}`),
    translateLinks(text).trim(),
  )
}

// Shared by all worlds: patterns that never change. Made with the first use, because classes of Unicode take a millisecond each.
let emphases: readonly (readonly [RegExp, string])[] | undefined

/** Text between two of these marks, unless they are inside a word: ~x~ is struck through, a~x~ is not. */
function emphasis(mark: string): RegExp {
  const around = '[\\p{P}\\p{Zs}\\p{S}]'
  const before = `(?![${mark}\`@\\\\\\p{Pf}\\p{Pe}])${around}|^`
  const after = `(?![${mark}\`@\\\\\\p{Pi}\\p{Ps}])(?=${around}|$)`
  return new RegExp(`(${before})[${mark}]([^${mark}]+)[${mark}]${after}`, 'gmu')
}

const address = /^(?:https?:\/\/(?:www\.)?|ftp:\/\/)?[a-z0-9]+(?:[-.][a-z0-9]+)*\.[a-z]{2,63}(?::[0-9]{1,5})?(?=$|[/|])/
const longestMailAddress = 320

/** `<https://example.com|text>` is a link, `<mailto:a@example.com>` a mail address. In one pass: what is no link stays as it is. */
function translateLinks(text: string): string {
  const parts: string[] = []
  let from = 0
  let end = -1
  for (let start = text.indexOf('<'); start !== -1; ) {
    // Many brackets can be open before one is closed: looked for again for each, a large text would keep others waiting.
    if (end < start) end = text.indexOf('>', start)
    if (end === -1) break
    const found = linkIn(text.slice(start + 1, end))
    if (found === undefined) {
      start = text.indexOf('<', start + 1)
      continue
    }
    parts.push(text.slice(from, start), found)
    from = end + 1
    start = text.indexOf('<', from)
  }
  return parts.join('') + text.slice(from)
}

function linkIn(inner: string): string | undefined {
  const isAddress = address.test(inner)
  // No mail address has a bracket. Found at once, so many open brackets do not each look through all that follows.
  if (!isAddress && inner.includes('<')) return undefined
  const bar = inner.indexOf('|')
  const target = bar === -1 ? inner : inner.slice(0, bar)
  if (isAddress) return bar === -1 ? inner : `[${inner.slice(bar + 1)}](${target})`
  const isMail = (given: string) =>
    given.length <= longestMailAddress && /^[\p{L}\p{N}_.-]+@[\p{L}\p{N}_.-]+\.[\p{L}\p{N}_]+$/u.test(given)
  const rest = bar === -1 ? '' : inner.slice(bar + 1)
  return isMail(target.replace(/^mailto:/, '')) && (rest === '' || isMail(rest)) ? target : undefined
}
