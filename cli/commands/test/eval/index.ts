// `natter eval DIR -- COMMAND`: runs an agent on cases, each in a space of its own, and scores what it did to the world.

import { readdirSync, statSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { writeFileAtomicallySync } from '../../../../daemon/local/atomic-file.ts'
import { harmless } from '../../../../daemon/local/harmless.ts'
import { Ending, exitCodes, usage } from '../../../base/failure.ts'
import { readCount } from '../../../base/flag-values.ts'
import { formatFlags } from '../../../base/globals.ts'
import type { ExtraSubcommand } from '../../../base/subcommand.ts'
import { print } from '../../../base/writer.ts'
import { printFormatted } from '../../../print/output.ts'
import { tableLines } from '../../../terminal/table.ts'
import { startTimeout, withFixture } from '../fixture.ts'
import { type Case, readCase } from './case-file.ts'
import { type CaseResult, refuseForeign, runCase } from './run-case.ts'
import { estimateRate } from './score.ts'

const mostRuns = 1000
const mostJobs = 64

export const subcommands: readonly ExtraSubcommand[] = [
  {
    name: 'eval',
    about: 'Run an agent on cases, each in an organization of its own, and score what it did',
    args: [{ name: 'dir', about: 'a folder of case files (YAML), or one file' }],
    runs: true,
    flags: [
      {
        name: 'repeat',
        value: 'N',
        about: 'run each case N times, and show the rate with its confidence interval',
      },
      { name: 'jobs', value: 'N', about: 'run N cases at once; by default as many as there are processors' },
      {
        name: 'threshold',
        value: 'RATE',
        about: 'the rate of passed runs, from 0 to 1, below which the exit code is 8; the default is 1',
      },
      { name: 'keep', value: 'DIR', about: 'keep transcript, difference and result of each run in this folder' },
      { name: 'junit', value: 'FILE', about: 'write the results as JUnit XML' },
    ],
    globals: [...formatFlags, 'quiet'],
    more: `The command is started once for each case, with the task in NATTER_TASK and the server in NATTER_SITE, NATTER_EMAIL, NATTER_API_KEY
and ZULIP_*. See docs/agents.md for the keys of a case file.`,
    examples: ['natter eval cases -- node agent.mjs', 'natter eval cases --repeat 10 --threshold 0.8 -- ./agent.sh'],
    async run({ args, rest = [], flags, globals }) {
      if (rest.length === 0) throw usage('no command given', 'Example: natter eval cases -- node agent.mjs')
      const cases = await readCases(args[0]!)
      const repeat = readCount('repeat', flags.repeat ?? 1, mostRuns)
      const jobs = readCount('jobs', flags.jobs ?? Math.min(availableParallelism(), mostJobs), mostJobs)
      const threshold = readRate(flags.threshold)
      const keep = flags.keep as string | undefined
      const runs = cases.flatMap(testCase => Array.from({ length: repeat }, (_, at) => ({ testCase, run: at + 1 })))
      if (keep !== undefined) for (const { testCase, run } of runs) refuseForeign(keep, { name: testCase.name, run })
      const results = await withFixture(['--control'], startTimeout, ({ ready }) => {
        const daemon = { site: ready.url, controlToken: ready.control_token! }
        return inParallel(runs, jobs, ({ testCase, run }) => runCase(daemon, testCase, rest, run, keep))
      })
      const summary = summarize(cases, results)
      if (flags.junit !== undefined) writeFileAtomicallySync(flags.junit as string, junitText(results))
      if (!(await printFormatted({ ...summary, runs: results }, globals))) print(summaryText(summary, results))
      if (summary.rate < threshold) throw new Ending(exitCodes.unmet)
    },
  },
]

async function readCases(place: string): Promise<Case[]> {
  const isFolder = statSync(place, { throwIfNoEntry: false })?.isDirectory()
  if (isFolder === undefined) throw usage(`there is no file or folder ${place}`)
  const files = isFolder
    ? readdirSync(place)
        .filter(name => /\.ya?ml$/.test(name))
        .sort()
        .map(name => join(place, name))
    : [place]
  if (files.length === 0) throw usage(`${place} has no case files`, 'A case is a file that ends in .yaml or .yml.')
  const cases: Case[] = []
  for (const file of files) {
    const testCase = await readCase(file)
    const other = cases.find(({ name }) => name === testCase.name)
    if (other)
      throw usage(
        `${file}: the case ${other.file} has the name ${testCase.name} too`,
        'Give each case a name of its own.',
      )
    cases.push(testCase)
  }
  return cases
}

function readRate(given: unknown): number {
  if (given === undefined) return 1
  const value = Number(given)
  if (!(value >= 0 && value <= 1)) throw usage(`--threshold takes a number from 0 to 1, not "${given}"`)
  return value
}

/** The results in the order of the items. */
async function inParallel<T, R>(items: readonly T[], jobs: number, work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = new Array(items.length)
  let next = 0
  const worker = async () => {
    while (next < items.length) {
      const at = next++
      results[at] = await work(items[at]!)
    }
  }
  await Promise.all(Array.from({ length: Math.min(jobs, items.length) }, worker))
  return results
}

function summarize(cases: readonly Case[], results: readonly CaseResult[]) {
  const rows = cases.map(({ name }) => {
    const runs = results.filter(result => result.name === name)
    const passed = runs.filter(result => result.passed).length
    const mean = (value: (result: CaseResult) => number) =>
      Number((runs.reduce((sum, result) => sum + value(result), 0) / runs.length).toFixed(2))
    return {
      name,
      passed,
      runs: runs.length,
      score: mean(({ score }) => score),
      seconds: mean(({ seconds }) => seconds),
      calls: mean(({ calls }) => calls),
    }
  })
  const passed = results.filter(result => result.passed).length
  return { passed, total: results.length, ...estimateRate(passed, results.length), cases: rows }
}

function summaryText(summary: ReturnType<typeof summarize>, results: readonly CaseResult[]): string {
  const rows = summary.cases.map(({ name, passed, runs, ...means }) => ({
    case: name,
    passed: `${passed}/${runs}`,
    ...means,
  }))
  const lines = tableLines(rows, String, { columns: undefined, colors: undefined })
  for (const { name, run, checks } of results)
    for (const { text, passed } of checks) if (!passed) lines.push(`${name}, run ${run}: failed: ${text}`)
  const percent = (rate: number) => `${(100 * rate).toFixed(0)} %`
  lines.push(
    `${summary.passed} of ${summary.total} runs passed: ${percent(summary.rate)} (95 % confidence: ${percent(summary.low)} to ${percent(summary.high)})`,
  )
  return `${lines.join('\n')}\n`
}

function junitText(results: readonly CaseResult[]): string {
  const failures = results.filter(({ passed }) => !passed).length
  const tests = results.map(({ name, run, passed, seconds, checks }) => {
    const failed = checks.filter(check => !check.passed).map(({ text }) => escapeXml(text))
    const body = passed ? '' : `<failure message="${failed[0]}">${failed.join('\n')}</failure>`
    return `  <testcase classname="natter eval" name="${escapeXml(`${name} #${run}`)}" time="${seconds}">${body}</testcase>`
  })
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuite name="natter eval" tests="${results.length}" failures="${failures}">\n${tests.join('\n')}\n</testsuite>\n`
}

function escapeXml(text: string): string {
  return harmless(text).replace(/[<>&"]/g, char => `&#${char.charCodeAt(0)};`)
}
