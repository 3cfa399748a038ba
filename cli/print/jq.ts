// `--jq`: jq compiled to WebAssembly, loaded on demand. A call costs milliseconds however little it has to do, because
// jq compiles its own library each time; so many values share one call, and plain paths need none.

import { type Failure, harmlessOnTerminal, usage } from '../base/failure.ts'
import type { JqEngine } from './jq-engine.ts'

/** What the expression makes of one value: lines, each with its line break, or a failure. */
export type JqOutcome = string | Failure

let engine: Promise<JqEngine> | undefined

/** Rejects an invalid expression before there is anything to apply it to. */
export async function checkJq(expression: string): Promise<void> {
  if (isPath(expression)) return
  const { stderr, exitCode } = (await loaded()).run('null', expression, [])
  if (exitCode === notCompiled) throw complaint(stderr)
}

/** The output of the expression: strings as they are, other values as one line of JSON; each with a line break. */
export async function jqText(value: unknown, expression: string): Promise<string> {
  const { stdout, stderr, exitCode } = (await loaded()).run(JSON.stringify(value ?? null), expression, ['-r', '-c'])
  if (exitCode !== 0) throw complaint(stderr)
  const text = harmlessOnTerminal(stdout)
  return text === '' || text.endsWith('\n') ? text : `${text}\n`
}

/** The same for each of many values, given as JSON. The expression must have passed `checkJq`. */
export async function jqTexts(values: readonly string[], expression: string): Promise<JqOutcome[]> {
  const path = isPath(expression) ? expression.slice(1).split('.') : undefined
  const outcomes: (JqOutcome | undefined)[] = values.map(value => path && followPath(value, path))
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

/** Outcomes of the values up to the one that ended jq, which is at least one. */
async function callOnce(values: readonly string[], expression: string): Promise<JqOutcome[]> {
  const { stdout, exitCode, stderr } = (await loaded()).run(values.join('\n'), forEach(expression), ['-c'])
  const rows = stdout.split('\n').filter(row => row !== '')
  const outcomes = rows.map(row => outcomeOf(JSON.parse(row) as string[] | { readonly error: unknown }))
  if (outcomes.length < values.length) outcomes.push(exitCode === 0 ? '' : complaint(stderr))
  return outcomes
}

/**
 * The outputs of a value are one line, so that it is known whose they are. An expression cannot read the next event with
 * `input`, or it would depend on the timing. The line break ends a comment.
 */
function forEach(expression: string): string {
  const own = 'def input: error("No more inputs"); def inputs: empty; '
  return `${own}try [(${expression}\n) | if type == "string" then . else tojson end] catch {error: .}`
}

function outcomeOf(row: string[] | { readonly error: unknown }): JqOutcome {
  if (Array.isArray(row)) return row.length === 1 ? `${row[0]}\n` : row.map(line => `${line}\n`).join('')
  return complaint(typeof row.error === 'string' ? row.error : JSON.stringify(row.error))
}

/** `.message.content` */
function isPath(expression: string): boolean {
  return /^(\.[A-Za-z_]\w*)+$/.test(expression)
}

/** As jq does it; undefined for what jq prints in a way of its own, and for what it refuses. */
function followPath(json: string, path: readonly string[]): string | undefined {
  let value: unknown = JSON.parse(json)
  for (const key of path) {
    if (value === null) break
    if (typeof value !== 'object' || Array.isArray(value)) return undefined
    value = Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : null
  }
  if (typeof value === 'string') return `${value}\n`
  return value === null || typeof value === 'boolean' || Number.isSafeInteger(value) ? `${value}\n` : undefined
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
