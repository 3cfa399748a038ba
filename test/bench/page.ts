// docs/generated/performance.md: `npm run bench -- --page` measures its pictures, and `--page --from FILE` takes its table from a saved
// run. Each keeps what the other has written.

import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { MeasuredPicture, PerformanceRecord } from '../../docs/generate/measured.ts'
import { readPerformance } from '../../docs/generate/performance.ts'
import type { Picture } from './picture.ts'
import { entries } from './pictures/entries.ts'
import { growth } from './pictures/growth.ts'
import { listeners } from './pictures/listeners.ts'
import { start } from './pictures/start.ts'
import { root } from './processes.ts'
import type { Effort } from './row.ts'
import { originOf, type Saved } from './saved.ts'

/** In the order of the page. */
const pictures: readonly Picture[] = [start, ...growth, ...entries, ...listeners]

const file = join(root, 'docs/generated/performance.json')

export async function measurePictures(effort: Effort, args: readonly string[]): Promise<void> {
  const origin = originOf(args)
  const measured: MeasuredPicture[] = []
  for (const { measure, ...picture } of pictures) {
    process.stderr.write(`${picture.title} ...\n`)
    measured.push({ ...picture, ...(await measure(effort)) })
  }
  writePage({ ...origin, pictures: measured, rows: readPerformance(file)?.rows ?? null })
}

export function showRows(rows: Saved): void {
  const { results: _, ...origin } = rows
  writePage({ ...(readPerformance(file) ?? { ...origin, pictures: [] }), rows })
}

function writePage(record: PerformanceRecord): void {
  writeFileSync(file, `${JSON.stringify(record, null, 2)}\n`)
  const { status } = spawnSync('npm', ['run', '--silent', 'docs'], { cwd: root, stdio: ['ignore', 2, 2] })
  if (status !== 0) throw new Error('the page could not be written')
  process.stdout.write('wrote docs/generated/performance.md\n')
}
