// npm run bench [-- [--quick] [--json] [--save FILE] [--compare FILE] [NAME ...]]: every figure the project promises, as a
// ratio measured in this run. npm run bench -- --page measures the pictures of docs/generated/performance.md; --page --from FILE puts a saved
// run into its table; further --from FILE have rows that were measured again.

import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { measurePictures, showRows } from './page.ts'
import { root, stopAll } from './processes.ts'
import { type Effort, judge, NotInstalled, type Result, type Row } from './row.ts'
import { attack } from './rows/attacks.ts'
import { channels } from './rows/channels.ts'
import { cli } from './rows/cli.ts'
import { cluster } from './rows/cluster.ts'
import { events } from './rows/events.ts'
import { fixture } from './rows/fixture.ts'
import { inspector } from './rows/inspector.ts'
import { journal } from './rows/journal.ts'
import { levels } from './rows/levels.ts'
import { messages } from './rows/messages.ts'
import { operations } from './rows/operations.ts'
import { peers } from './rows/peers.ts'
import { people } from './rows/people.ts'
import { questions } from './rows/questions.ts'
import { scale } from './rows/scale.ts'
import { size } from './rows/size.ts'
import { spaces } from './rows/spaces.ts'
import { start } from './rows/start.ts'
import { streams } from './rows/streams.ts'
import { versions } from './rows/versions.ts'
import { write } from './rows/write.ts'
import { compare, merged, originOf, readSaved, save } from './saved.ts'
import { summary, table } from './table.ts'

/** In the order of the table. A new family of rows is a file in rows/ and a name here. */
const rows: readonly Row[] = [
  ...cli,
  ...streams,
  ...start,
  ...versions,
  ...fixture,
  ...spaces,
  ...questions,
  ...peers,
  ...write,
  ...levels,
  ...messages,
  ...size,
  ...channels,
  ...people,
  ...events,
  ...scale,
  ...journal,
  ...cluster,
  ...attack,
  ...inspector,
  ...operations,
]

const { values, positionals } = readArguments()
const effort: Effort = { quick: values.quick, rounds: (full, quick) => (values.quick ? quick : full) }
const named = rows.filter(row => positionals.length === 0 || positionals.some(name => row.name.includes(name)))
if (named.length === 0)
  misused(`No row has that in its name. There are:\n${rows.map(row => `  ${row.name}`).join('\n')}`)
const leftOut = named.filter(row => values.quick && row.fullOnly !== undefined)
const wanted = named.filter(row => !leftOut.includes(row))
/** Read first: a run takes long, and a wrong file name would be found at its end. */
const before = values.compare === undefined ? undefined : orMisused(() => readSaved(values.compare!))

if (values.page && values.from !== undefined) {
  const [first, ...later] = values.from
  showRows(orMisused(() => merged([readSaved(first!), ...later.map(readSaved)])))
  process.exit(0)
}
buildIfMissing()
if (values.page) {
  try {
    await measurePictures(effort, process.argv.slice(2))
  } finally {
    await stopAll()
  }
  process.exit(0)
}
const origin = originOf(process.argv.slice(2))
const results: Result[] = []
try {
  for (const row of wanted) {
    const began = performance.now()
    process.stderr.write(`${row.name} ...`)
    const result = await resultOf(row)
    const seconds = (performance.now() - began) / 1000
    results.push({ ...result, seconds })
    process.stderr.write(` ${seconds.toFixed(0)} s\n`)
  }
} finally {
  await stopAll()
}
process.stdout.write(
  values.json ? `${JSON.stringify(results, null, 2)}\n` : `${table(results)}\n${summary(results, leftOut, origin)}`,
)
if (values.save !== undefined) save(values.save, results, origin)
const comparison = before && compare(before, results)
// With --json, stdout has the JSON only.
if (comparison) (values.json ? process.stderr : process.stdout).write(`\n${comparison.text}`)
const isMet = results.every(({ met, goal }) => met || goal.informative)
process.exit(isMet && !comparison?.worse.length ? 0 : 1)

function readArguments() {
  return orMisused(() =>
    parseArgs({
      options: {
        quick: { type: 'boolean', default: false },
        json: { type: 'boolean', default: false },
        save: { type: 'string' },
        compare: { type: 'string' },
        page: { type: 'boolean', default: false },
        from: { type: 'string', multiple: true },
      },
      allowPositionals: true,
    }),
  )
}

function orMisused<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    return misused((error as Error).message)
  }
}

function misused(message: string): never {
  process.stderr.write(`${message}\n`)
  process.exit(2)
}

/** What could not be measured is a goal missed, and no reason to leave out the rest. */
async function resultOf(row: Row): Promise<Result> {
  try {
    return judge(row, await row.measure(effort))
  } catch (error) {
    return { ...judge(row, []), met: error instanceof NotInstalled, unmeasured: (error as Error).message }
  }
}

/** Measures what is installed: the bundles. After a change of the source, build before measuring. */
function buildIfMissing(): void {
  if (['natter', 'natterd'].every(name => existsSync(join(root, 'dist', `${name}.cjs.cache`)))) return
  const { status } = spawnSync('npm', ['run', '--silent', 'build'], { cwd: root, stdio: ['ignore', 2, 2] })
  if (status !== 0) throw new Error('the build failed')
}
