// A table for people, one line per row: columns as wide as needed, narrower on a narrow terminal, and the last ones left
// out if that is not enough. Columns chosen by --fields always stay: then each row becomes a block of lines.

import { harmless } from '../base/failure.ts'
import type { Reply } from '../base/reply.ts'
import { type Terminal, widthOf, wrapped } from './terminal.ts'

const gap = 2
const narrowest = 8

export function tableLines(
  rows: readonly Reply[],
  cell: (value: unknown, column: string) => string,
  { columns: room, colors }: Terminal,
  /** The most important first. */
  chosen?: readonly string[],
): string[] {
  const there = [...new Set(rows.flatMap(row => Object.keys(row)))]
  const names = chosen ? chosen.filter(name => there.includes(name)) : there
  const cells = rows.map(row => names.map(name => (Object.hasOwn(row, name) ? cell(row[name], name) : '')))
  const titles = names.map(harmless)
  const natural = titles.map((title, index) => Math.max(widthOf(title), ...cells.map(row => widthOf(row[index]!))))
  const widths = room === undefined ? natural : fitted(natural, titles.map(widthOf), room, chosen !== undefined)
  // If most columns would be lost, blocks of lines are more useful.
  if (!widths || widths.length * 2 < names.length) return blocks(titles, cells, room, colors?.cyan)
  const heading = colors?.bold ?? ((text: string) => text)
  return [heading(joined(titles, widths)), ...cells.map(row => joined(row, widths))]
}

/** Shrinks the widest until all fit, then leaves out the last if allowed; undefined if they cannot fit. */
function fitted(
  natural: readonly number[],
  least: readonly number[],
  room: number,
  fewer: boolean,
): number[] | undefined {
  const widths = [...natural]
  const total = () => widths.reduce((sum, width) => sum + width, 0) + gap * (widths.length - 1)
  while (total() > room) {
    // A title is never cut.
    const spare = widths.map((width, index) => (width > Math.max(narrowest, least[index]!) ? width : 0))
    const widest = spare.lastIndexOf(Math.max(...spare))
    if (spare[widest]! > 0) widths[widest]!--
    else if (fewer && widths.length > 1) return fitted(natural.slice(0, -1), least, room, fewer)
    else return undefined
  }
  return widths
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
  return widths
    .map((width, index) => padded(cutToWidth(row[index]!, width), width))
    .join(' '.repeat(gap))
    .trimEnd()
}

/** Ends with an ellipsis if something is missing. */
export function cutToWidth(text: string, width: number): string {
  if (widthOf(text) <= width) return text
  let kept = ''
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    if (widthOf(kept + segment) > width - 1) break
    kept += segment
  }
  return `${kept.trimEnd()}…`
}

export function padded(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)))
}
