// performance.md and its pictures: what `npm run bench -- --page` measured, which keeps it in performance.json.

import { existsSync, readFileSync } from 'node:fs'
import { code, page, table } from './markdown.ts'
import type { MeasuredPicture, Origin, PerformanceRecord, RowResult } from './measured.ts'
import { draw } from './plot.ts'

export function readPerformance(file: string): PerformanceRecord | null {
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as PerformanceRecord | null) : null
}

/** The page and its pictures, by file name. */
export async function performancePages(record: PerformanceRecord | null): Promise<[name: string, text: string][]> {
  const pictures: [string, string][] = []
  for (const picture of record?.pictures ?? [])
    pictures.push([fileOf(picture), await draw(picture, originText(record!))])
  return [['performance.md', performancePage(record)], ...pictures]
}

function performancePage(record: PerformanceRecord | null): string {
  return page(
    'Performance',
    'Costs by size and beside other programs. `npm run bench -- --page` measures the pictures, in at most 8 minutes on an idle machine; ' +
      '`npm run bench -- --save FILE` and then `--page --from FILE` brings the table of ratios; rows of a further `--from FILE` replace those that were measured before. Times of one machine do not carry over to another one; ' +
      'the shapes of the lines and the ratios do. Points are medians, bands reach from the first to the third quartile.',
    'json-server, Prism and Mockoon are measured if they are installed: `npm install --prefix FOLDER json-server@0.17 @stoplight/prism-cli @mockoon/cli`, and `NATTER_BENCH_TOOLS=FOLDER` before the command.',
    record ? `${originText(record)}.` : 'No run is recorded yet.',
    ...(record?.pictures ?? []).flatMap(picture => [
      `## ${picture.title}`,
      `![${picture.title}](${fileOf(picture)})`,
      [picture.about, ...picture.missing.map(text => `${text}.`)].join(' '),
      figures(picture),
    ]),
    ...(record?.rows ? ['## Ratios', `${originText(record.rows)}.`, ratios(record.rows.results)] : []),
  )
}

/** The points again, for readers who cannot see the picture. */
function figures({ points, x, y }: MeasuredPicture): string {
  const lines = [...new Set(points.map(({ line }) => line))]
  const places = [...new Set(points.map(point => point.x))]
  const at = (line: string, place: number | string) => points.find(point => point.line === line && point.x === place)
  if (x.title === '')
    return table(
      ['Program', y.title],
      points.map(({ line, y: value }) => [line, grouped(value)]),
    )
  return table(
    [`${x.title} (${y.title})`, ...lines],
    places.map(place => [
      typeof place === 'number' ? grouped(place) : place,
      ...lines.map(line => {
        const point = at(line, place)
        return point ? grouped(point.y) : '–'
      }),
    ]),
  )
}

function ratios(results: readonly RowResult[]): string {
  return table(
    ['Work', 'Ratio', 'Goal', 'Met', 'Reference (= 1)'],
    results.map(({ name, ratio, goal, met, unmeasured, reference }) => [
      name,
      ratio === null || unmeasured !== undefined ? '–' : ratio.toFixed(2),
      goalText(goal),
      unmeasured ?? (met ? 'yes' : 'no'),
      reference,
    ]),
  )
}

function goalText(goal: object): string {
  const { atMost, atLeast, informative } = goal as { atMost?: number; atLeast?: number; informative?: true }
  return `${atMost === undefined ? `at least ${atLeast}` : `at most ${atMost}`}${informative ? ', not binding' : ''}`
}

function originText({ date, machine, load, command }: Origin): string {
  const busy = load === undefined ? '' : `, load ${load.toFixed(1)} when it began`
  return `Measured on ${date.slice(0, 10)} by ${code(command)} on ${machine}${busy}`
}

function fileOf({ name }: MeasuredPicture): string {
  return `performance-${name}.svg`
}

function grouped(value: number): string {
  return value.toLocaleString('en-US', { maximumSignificantDigits: 3 })
}
