// A table for people, one line per row: columns as wide as needed. On a narrow terminal texts get narrower, then the last
// columns are left out, and only then addresses, paths and IDs are cut, which are of little use without their end.
// Columns chosen by --fields always stay: if they do not fit, each row becomes a block of lines.

import { harmless } from '../../daemon/local/harmless.ts'
import type { Reply } from '../base/reply.ts'
import { columnWidth, largest } from '../base/text-layout.ts'
import { measureWidth, type Terminal, wrapText } from './terminal.ts'

const gap = 2
const narrowest = 8
/** A wider cell counts as text even without spaces. */
const longestWord = 60
/** Texts are not cut further than this while there are columns to leave out. */
const readable = 16

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
  const natural = titles.map((title, index) => largest([title, ...cells.map(row => row[index]!)].map(measureWidth)))
  const least = titles.map(measureWidth)
  const whole = least.map((width, index) => Math.max(width, wholeWidth(cells.map(row => row[index]!))))
  const fewer = chosen !== undefined
  const heading = colors?.bold ?? ((text: string) => text)
  if (room === undefined) {
    const widths = natural.map(width => columnWidth([width]))
    return [heading(joinCells(titles, widths)), ...cells.map(row => joinCells(row, widths))]
  }
  const widths = (fewer && shorten(natural, whole, room)) || fitColumns(natural, least, room, fewer)
  // If most columns would be lost, blocks of lines are more useful.
  if (!widths || widths.length * 2 < names.length) return blocks(titles, cells, room, colors?.cyan)
  const cut = (row: readonly string[]) => widths.map((width, index) => cutToWidth(row[index]!, width))
  return [heading(joinCells(titles, widths)), ...cells.map(row => joinCells(cut(row), widths))]
}

/** Cuts texts a little and leaves out columns at the end, as long as at least half of them stay. */
function shorten(natural: readonly number[], whole: readonly number[], room: number): number[] | undefined {
  for (let count = natural.length; count * 2 >= natural.length && count > 0; count--) {
    const floor = whole.map((width, index) => Math.min(natural[index]!, Math.max(width, readable)))
    const widths = shrink(natural.slice(0, count), floor, room)
    if (widths) return widths
  }
  return undefined
}

/** Takes columns off the widest until all fit; undefined if they cannot fit. */
function shrink(natural: readonly number[], floor: readonly number[], room: number): number[] | undefined {
  const widths = [...natural]
  while (widths.reduce((sum, width) => sum + width + gap, -gap) > room) {
    const spare = widths.map((width, index) => (width > floor[index]! ? width : 0))
    const widest = spare.lastIndexOf(Math.max(...spare))
    if (spare[widest] === 0) return undefined
    widths[widest]!--
  }
  return widths
}

/** The width at which no cell is cut that has no spaces: an address, a path, an ID. */
function wholeWidth(cells: readonly string[]): number {
  const widths = cells.map(text => (text.includes(' ') ? 0 : measureWidth(text)))
  return largest(widths.map(width => (width > longestWord ? 0 : width)))
}

/** Shrinks the widest until all fit, then leaves out the last if allowed; undefined if they cannot fit. */
function fitColumns(
  natural: readonly number[],
  least: readonly number[],
  room: number,
  fewer: boolean,
): number[] | undefined {
  // A title is never cut.
  const floor = least.map(width => Math.max(narrowest, width))
  const widths = shrink(natural, floor, room)
  return widths || !fewer || natural.length < 2 ? widths : fitColumns(natural.slice(0, -1), least, room, fewer)
}

function blocks(
  titles: readonly string[],
  cells: readonly (readonly string[])[],
  room: number | undefined,
  paint: ((text: string) => string) | undefined,
): string[] {
  const width = columnWidth(titles.map(measureWidth))
  return cells.flatMap((row, index) => [
    ...(index === 0 ? [] : ['']),
    ...row.flatMap((text, column) => {
      const title = padToWidth(titles[column]!, width)
      const rest = wrapText(text, room, width + gap, width + gap)
      return `${(paint ?? String)(title)}${' '.repeat(gap)}${rest}`.trimEnd().split('\n')
    }),
  ])
}

function joinCells(row: readonly string[], widths: readonly number[]): string {
  return widths
    .map((width, index) => padToWidth(row[index]!, width))
    .join(' '.repeat(gap))
    .trimEnd()
}

/** Ends with an ellipsis if something is missing. */
export function cutToWidth(text: string, width: number): string {
  if (measureWidth(text) <= width) return text
  let kept = ''
  let left = width - 1
  for (const { segment } of new Intl.Segmenter().segment(text.slice(0, mostCharacters * width))) {
    left -= measureWidth(segment)
    if (left < 0) break
    kept += segment
  }
  return `${kept.trimEnd()}…`
}

/** Of one column: an emoji of a family has about 25. */
const mostCharacters = 50

export function padToWidth(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - measureWidth(text)))
}
