// Coverage of a test run. Most tests talk to a daemon or a command line in a process of its own, so every process writes
// its coverage to one folder, and the report maps all of it back to the sources and checks the floor.

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { type Loader, transform } from 'esbuild'
import type { CoverageFile, V8CoverageEntry } from 'monocart-coverage-reports'
import { type CoverageRecord, coverageText, type FileCoverage, percent, total } from '../docs/generate/coverage.ts'
import { bundleFolder } from './bundle.ts'
import { thisMachine } from './support/machine.ts'

/**
 * In percent, a little below what a whole run prints. Raise it with coverage, never lower it. (Of lines it was 96, when functions from a
 * code cache counted as wholly run and the inspector did not count.)
 */
const floor = { lines: 94, functions: 94, branches: 87 }

export interface Coverage {
  /** For the processes of the run, which pass it on to their children. */
  readonly env: Readonly<Record<string, string>>
  /** Prints the summary, and writes it to `coverage/record.json` and every line to `coverage/lcov.info`; false if it is below the floor. */
  report(): Promise<boolean>
}

/** Undefined unless NATTER_COVERAGE is set. The build reads it too: only then do bundles have source maps. */
export function startCoverage(root: string): Coverage | undefined {
  if (process.env.NATTER_COVERAGE === undefined) return undefined
  const folder = mkdtempSync(join(tmpdir(), 'natter-coverage-'))
  return {
    env: { NODE_V8_COVERAGE: folder },
    async report() {
      const { CoverageReport } = await import('monocart-coverage-reports')
      const lengths = new Map<string, number>()
      for (const name of readdirSync(folder)) keepOurs(join(folder, name), root, lengths)
      const outputDir = join(root, 'coverage')
      const report = new CoverageReport({
        baseDir: root,
        outputDir,
        reports: ['console-summary', 'v8-json', 'lcovonly'],
        sourceFilter: path => /^(daemon|cli)\/.*\.tsx?$/.test(path),
        // A file that nothing loads counts too.
        all: {
          dir: ['daemon', 'cli'].map(name => join(root, name)),
          filter: path => (/(?<!\.d)\.tsx?$/.test(path) ? 'js' : false),
          transformer: toJavaScript,
        },
        logging: 'error',
      })
      await report.addFromDir(folder)
      const results = await report.generate()
      rmSync(folder, { recursive: true, force: true })
      mkdirSync(outputDir, { recursive: true })
      const record = recordOf(results!.files)
      writeFileSync(join(outputDir, 'record.json'), coverageText(record))
      const all = total(record)
      const short = Object.entries(floor).filter(([name, least]) => percent(all[name as keyof typeof floor]) < least)
      for (const [name, least] of short) process.stdout.write(`✖ coverage of ${name} is below the floor of ${least}%\n`)
      return short.length === 0
    },
  }
}

/** Bundles have a little code of their own, which comes from no source. */
function recordOf(files: readonly CoverageFile[]): CoverageRecord {
  const ours = files.filter(({ sourcePath }) => /^(daemon|cli)\//.test(sourcePath))
  const covered = ours.map(({ sourcePath, summary }): [string, FileCoverage] => {
    const { lines, branches, functions } = summary
    const pair = ({ covered, total }: typeof lines) => [covered, total] as const
    return [sourcePath, { lines: pair(lines), branches: pair(branches), functions: pair(functions) }]
  })
  return {
    date: new Date().toISOString(),
    machine: thisMachine(),
    command: 'npx tsx test/coverage-run.ts',
    files: Object.fromEntries(covered.sort(([a], [b]) => (a < b ? -1 : 1))),
  }
}

/** Leaves only our bundles in a file of coverage, with the offsets and under the form of URL that the report reads. */
function keepOurs(file: string, root: string, lengths: Map<string, number>): void {
  let coverage: { result: V8CoverageEntry[] }
  try {
    coverage = JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    // The process was killed while it wrote the file, as crash tests do.
    rmSync(file)
    return
  }
  // Sources that tsx runs have no branches that could be mapped back.
  const folders = ['dist', bundleFolder].map(name => `${pathToFileURL(join(root, name)).href}/`)
  const result = coverage.result
    .map(script => (script.url.startsWith(root) ? { ...script, url: pathToFileURL(script.url).href } : script))
    .filter(({ url }) => folders.some(folder => url.startsWith(folder)))
    .map(script => unwrapped(script, lengths))
  writeFileSync(file, JSON.stringify({ ...coverage, result }))
}

/** What bin/launch.js puts around a bundle that it loads late. */
const wrapper = { before: '(function (exports, require, module, __filename, __dirname) {'.length, after: '\n})'.length }

/** A script that was wrapped when it was loaded is longer than its file, and all its offsets are too large. */
function unwrapped(script: V8CoverageEntry, lengths: Map<string, number>): V8CoverageEntry {
  const { url, functions = [] } = script
  if (!lengths.has(url)) lengths.set(url, readFileSync(fileURLToPath(url), 'utf8').length)
  const length = lengths.get(url)!
  const end = Math.max(
    ...functions.flatMap(({ ranges }) => ranges.map((range: { endOffset: number }) => range.endOffset)),
  )
  if (end !== length + wrapper.before + wrapper.after) return script
  const moved = (offset: number) => Math.min(Math.max(offset - wrapper.before, 0), length)
  return {
    ...script,
    functions: functions.map(({ ranges, ...others }) => ({
      ...others,
      ranges: ranges.map(({ startOffset, endOffset, count }: Record<string, number>) => ({
        startOffset: moved(startOffset!),
        endOffset: moved(endOffset!),
        count,
      })),
    })),
  }
}

async function toJavaScript(entry: V8CoverageEntry): Promise<void> {
  const loader: Loader = entry.url.endsWith('x') ? 'tsx' : 'ts'
  const { code, map } = await transform(entry.source!, { loader, sourcemap: true, sourcefile: entry.url })
  entry.source = code
  entry.sourceMap = JSON.parse(map)
}
