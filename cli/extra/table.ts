// A table for people: columns as wide as they need, narrower where the terminal is, one block per row where that is not
// enough.

import type { Reply } from '../client.ts'
import { harmless } from '../failure.ts'
import { type Terminal, widthOf, wrapped } from './terminal.ts'

const gap = 2
const narrowest = 8

export function tableLines(
  rows: readonly Reply[],
  cell: (value: unknown, column: string) => string,
  { columns: room, colors }: Terminal,
): string[] {
  const names = [...new Set(rows.flatMap(row => Object.keys(row)))]
  const cells = rows.map(row => names.map(name => (Object.hasOwn(row, name) ? cell(row[name], name) : '')))
  const titles = names.map(harmless)
  const natural = titles.map((title, index) => Math.max(widthOf(title), ...cells.map(row => widthOf(row[index]!))))
  const widths = room === undefined ? natural : fitted(natural, titles.map(widthOf), room)
  const heading = colors?.bold ?? ((text: string) => text)
  if (!widths) return blocks(titles, cells, room, colors?.cyan)
  return [heading(joined(titles, widths)), ...cells.flatMap(row => rowLines(row, widths, natural))]
}

/** Takes from the widest until all fit; undefined when they cannot. */
function fitted(natural: readonly number[], least: readonly number[], room: number): number[] | undefined {
  const widths = [...natural]
  const total = () => widths.reduce((sum, width) => sum + width, 0) + gap * (widths.length - 1)
  while (total() > room) {
    // A title is never cut.
    const spare = widths.map((width, index) => (width > Math.max(narrowest, least[index]!) ? width : 0))
    const widest = spare.indexOf(Math.max(...spare))
    if (spare[widest] === 0) return undefined
    widths[widest]!--
  }
  return widths
}

function rowLines(row: readonly string[], widths: readonly number[], natural: readonly number[]): string[] {
  const parts = row.map((text, index) =>
    widths[index] === natural[index] ? [text] : wrapped(text, widths[index], 0, 0).split('\n'),
  )
  const height = Math.max(...parts.map(part => part.length))
  return Array.from({ length: height }, (_, line) =>
    joined(
      parts.map(part => part[line] ?? ''),
      widths,
    ),
  )
}

function blocks(
  titles: readonly string[],
  cells: readonly (readonly string[])[],
  room: number | undefined,
  paint: ((text: string) => string) | undefined,
): string[] {
  const width = Math.max(...titles.map(widthOf))
  return cells.flatMap((row, index) => [
    ...(index === 0 ? [] : ['']),
    ...row.flatMap((text, column) => {
      const title = padded(titles[column]!, width)
      const rest = wrapped(text, room, width + gap, width + gap)
      return `${(paint ?? String)(title)}${' '.repeat(gap)}${rest}`.trimEnd().split('\n')
    }),
  ])
}

function joined(row: readonly string[], widths: readonly number[]): string {
  return row
    .map((text, index) => padded(text, widths[index]!))
    .join(' '.repeat(gap))
    .trimEnd()
}

function padded(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)))
}
