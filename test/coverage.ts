// Coverage of a test run. Most tests talk to a daemon or a command line in a process of its own, so every process writes
// its coverage to one folder, and the report maps all of it back to the sources and checks the floor.

import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { bundleFolder } from './bundle.ts'

/** In percent, a little below what a whole run prints. Raise it with coverage, never lower it. */
const floor = { lines: 96, functions: 93, branches: 84 }

export interface Coverage {
  /** For the processes of the run, which pass it on to their children. */
  readonly env: Readonly<Record<string, string>>
  /** Prints the summary; false if coverage is below the floor. */
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
      for (const name of readdirSync(folder)) keepOurs(join(folder, name), root)
      const isOurs = (path: string) => /^(daemon|cli)\/.*\.ts$/.test(relative(root, join(root, path)))
      const report = new CoverageReport({
        baseDir: root,
        outputDir: join(root, 'coverage'),
        reports: ['console-summary', 'json-summary'],
        sourceFilter: isOurs,
        logging: 'error',
      })
      await report.addFromDir(folder)
      const results = await report.generate()
      rmSync(folder, { recursive: true, force: true })
      const short = Object.entries(floor).filter(([name, least]) => {
        const { pct } = results!.summary[name as keyof typeof floor]!
        return typeof pct === 'number' && pct < least
      })
      for (const [name, least] of short) process.stdout.write(`✖ coverage of ${name} is below the floor of ${least}%\n`)
      return short.length === 0
    },
  }
}

/** Leaves only our code in a file of coverage, under the form of URL that the report reads. */
function keepOurs(file: string, root: string): void {
  interface Script {
    url: string
  }
  let coverage: { result: Script[] }
  try {
    coverage = JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    // The process was killed while it wrote the file, as crash tests do.
    rmSync(file)
    return
  }
  const folders = ['daemon', 'cli', 'dist', bundleFolder].map(name => `${pathToFileURL(join(root, name)).href}/`)
  const result = coverage.result
    .map(script => (script.url.startsWith(root) ? { ...script, url: pathToFileURL(script.url).href } : script))
    .filter(({ url }) => folders.some(folder => url.startsWith(folder)))
  writeFileSync(file, JSON.stringify({ ...coverage, result }))
}
