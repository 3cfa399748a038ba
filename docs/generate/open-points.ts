// open-points.md: the places where the API leaves something open and natter chose; marked in comments.

import { code, page, table } from './markdown.ts'
import { type SourceFile, sourceFiles } from './sources.ts'

export function openPointsPage(): string {
  const points = ['daemon', 'cli'].flatMap(sourceFiles).flatMap(pointsIn)
  return page(
    'Open points',
    'Where the API leaves something open and natter had to choose. Collected from the comments of the code.',
    table(
      ['File', 'Choice', 'Where'],
      points.map(({ file, choice, where }) => [code(file), choice, where === '' ? '' : code(where)]),
    ) || 'None.',
  )
}

interface OpenPoint {
  readonly file: string
  readonly choice: string
  /** The line of code it is above, or after. */
  readonly where: string
}

const marker = /(?:\/\/|\/?\*+)\s*OPEN:\s*(.*)$/
const goesOn = /^\s*(?:\/\/|\*(?!\/))\s?(.*)$/

function pointsIn({ path, text }: SourceFile): OpenPoint[] {
  const lines = text.split('\n')
  return lines.flatMap((line, index) => {
    const found = marker.exec(line)
    if (!found) return []
    const before = line.slice(0, found.index).trim()
    const comment = [found[1]!]
    let next = index + 1
    // A comment behind code is one line; one of its own goes on.
    if (before === '')
      for (; next < lines.length && goesOn.test(lines[next]!) && !marker.test(lines[next]!); next++)
        comment.push(goesOn.exec(lines[next]!)![1]!)
    const where = before || nextCode(lines, next)
    return [
      {
        file: path,
        choice: comment
          .join(' ')
          .replace(/\s*\*\/\s*$/, '')
          .trim(),
        where,
      },
    ]
  })
}

function nextCode(lines: readonly string[], from: number): string {
  const isComment = (line: string) => /^\s*(\/\/|\/?\*|$)/.test(line)
  return (lines.slice(from).find(line => !isComment(line)) ?? '').trim()
}
