// Parts of texts, as copies. V8 keeps the whole of a text in memory for a slice of it: a row with ten words would hold the megabyte that
// its client sent around them.

/** The text without the white space around it. */
export function trimText(text: string): string {
  const trimmed = text.trim()
  return trimmed.length === text.length ? text : copyText(trimmed)
}

/** The beginning of the text, and the mark if it is cut. */
export function cutText(text: string, most: number, mark = '…'): string {
  return text.length <= most ? text : `${copyText(text.slice(0, most).toWellFormed())}${mark}`
}

export function copyText(text: string): string {
  return JSON.parse(JSON.stringify(text))
}
