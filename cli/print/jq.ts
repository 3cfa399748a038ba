// `--jq`: jq compiled to WebAssembly, loaded on demand. A call costs milliseconds however little it has to do, because
// jq compiles its own library each time; so many values share one call, and most expressions need none.

import { type Failure, usage } from '../base/failure.ts'
import { harmlessOnTerminal } from '../base/writer.ts'
import type { JqEngine } from './jq-engine.ts'
import { quickOf } from './jq-quick.ts'

/** What the expression makes of one value: lines, each with its line break, or a failure. */
export type JqOutcome = string | Failure

let engine: Promise<JqEngine> | undefined

/** Rejects an invalid expression before there is anything to apply it to. */
export async function checkJq(expression: string): Promise<void> {
  if (quickOf(expression)) return
  const { stderr, exitCode } = (await loaded()).run('null', expression, [])
  if (exitCode === notCompiled) throw complaint(stderr)
}

/** The output of the expression: strings as they are, other values as one line of JSON; each with a line break. */
export async function jqText(value: unknown, expression: string): Promise<string> {
  const json = JSON.stringify(value ?? null)
  const text = harmlessOnTerminal(quickOf(expression)?.(json) ?? (await askJq(json, expression)))
  return text === '' || text.endsWith('\n') ? text : `${text}\n`
}

/** The same for each of many values, given as JSON. The expression must have passed `checkJq`. */
export async function jqTexts(values: readonly string[], expression: string): Promise<JqOutcome[]> {
  const quick = quickOf(expression)
  const outcomes: (JqOutcome | undefined)[] = values.map(value => quick?.(value))
  const open = [...values.keys()].filter(index => outcomes[index] === undefined)
  for (let at = 0; at < open.length; ) {
    const some = open.slice(at, at + valuesPerCall)
    const found = await callOnce(
      some.map(index => values[index]!),
      expression,
    )
    for (const [nth, outcome] of found.entries()) outcomes[some[nth]!] = outcome
    at += found.length
  }
  return outcomes.map(outcome => (typeof outcome === 'string' ? harmlessOnTerminal(outcome) : outcome!))
}

/** Bounds what a call holds in memory. */
const valuesPerCall = 10_000

async function askJq(json: string, expression: string): Promise<string> {
  const { stdout, stderr, exitCode } = (await loaded()).run(json, expression, ['-r', '-c'])
  if (exitCode !== 0) throw complaint(stderr)
  return stdout
}

/** Outcomes of the values up to the one that ended jq, which is at least one. */
async function callOnce(values: readonly string[], expression: string): Promise<JqOutcome[]> {
  // Not to be guessed, so that no message contains it.
  const mark = crypto.randomUUID()
  const { stdout, exitCode, stderr } = (await loaded()).run(values.join('\n'), forEach(expression, mark), ['-r', '-c'])
  const parts = stdout.split(`${mark}\n`)
  // After the last mark comes what jq printed for the value that ended it, such as by `halt`.
  const outcomes: JqOutcome[] = parts.slice(0, -1).map(part => outcomeOf(part, mark))
  if (outcomes.length < values.length) outcomes.push(exitCode === 0 ? '' : complaint(stderr))
  return outcomes
}

/**
 * A mark follows the outputs of each value, so that it is known whose they are. An expression cannot read the next event with
 * `input`, or it would depend on the timing. The line break ends a comment.
 */
function forEach(expression: string, mark: string): string {
  const own = 'def input: error("No more inputs"); def inputs: empty; '
  return `${own}(try (${expression}\n) catch "error ${mark} \\(.)"), "${mark}"`
}

/** Of a value that the expression fails on, the error and nothing else. */
function outcomeOf(printed: string, mark: string): JqOutcome {
  const at = printed.indexOf(`error ${mark} `)
  return at < 0 ? printed : complaint(printed.slice(at + `error ${mark} `.length))
}

/** jq's exit code. */
const notCompiled = 3

function loaded(): Promise<JqEngine> {
  engine ??= import('./jq-engine.ts').then(({ JqEngine }) => JqEngine.load())
  return engine
}

function complaint(stderr: string): Failure {
  return usage(`--jq: ${stderr.replace(/^jq: (error: )?/, '').split('\n')[0]}`)
}
