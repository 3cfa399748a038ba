// Texts for people: help in lines that fit the terminal, values cut to a length, numbers with their nouns.

/** The width of the terminal, at least 40; 80 without a terminal. */
export function helpColumns(): number {
  return Math.max(40, process.stdout.columns || 80)
}

/** Lines of at most `columns` columns, without the indent; a longer word has a line of its own. */
export function fill(words: readonly string[], columns: number): string[] {
  const lines: string[] = []
  for (const word of words) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= columns) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}

/** At most `most` characters, the last one an ellipsis if something is missing. */
export function cutText(text: string, most: number): string {
  // A character is one or two units. The rest of a long text is not looked at.
  const characters = [...text.slice(0, 2 * most + 2)]
  return characters.length > most ? `${characters.slice(0, most - 1).join('')}…` : text
}

/** Breaks the lines of each paragraph again. A paragraph with an indented line is a table or an example and stays as it is. */
export function reflow(text: string, columns: number): string {
  const paragraphs = text.split('\n\n')
  return paragraphs
    .map(paragraph => (/^\s/m.test(paragraph) ? paragraph : fill(paragraph.split(/\s+/), columns).join('\n')))
    .join('\n\n')
}

/** Of a column that is filled up with spaces: with the width of one very long text, every line would be as long as that. */
const widestColumn = 100

/** The width for texts that are so wide; wider ones reach into the next column. */
export function columnWidth(widths: readonly number[]): number {
  return Math.min(widestColumn, largest(widths))
}

/** Of any number of them: Math.max takes about 100,000. */
export function largest(numbers: readonly number[]): number {
  return numbers.reduce((most, number) => Math.max(most, number), 0)
}

/** `1 message`, `2 messages`. */
export function countText(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
