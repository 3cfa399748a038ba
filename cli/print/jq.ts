// `--jq`: applies a jq expression, with jq compiled to WebAssembly, which is loaded on demand. A call costs tens of milliseconds however
// little it has to do, because jq compiles its own library each time; so many values share one call.

import type { Jq } from 'jq-wasm'
import { type Failure, usage } from '../base/failure.ts'
import { harmlessOnTerminal } from '../base/writer.ts'

/** What the expression makes of one value: lines, each with its line break, or a failure. */
type JqOutcome = string | Failure

let jq: Promise<Jq> | undefined

/** Rejects an invalid expression before there is anything to apply it to. */
export async function checkJq(expression: string): Promise<void> {
  const { stderr, exitCode } = (await loadJq()).raw('null', expression)
  if (exitCode === notCompiled) throw complaint(stderr)
}

/** The output of the expression: strings as they are, other values as one line of JSON; each with a line break. */
export async function jqText(value: unknown, expression: string): Promise<string> {
  const [outcome] = await jqTexts([JSON.stringify(value ?? null)], expression)
  if (typeof outcome !== 'string') throw outcome
  return outcome
}

/** The same for each of many values, given as JSON. */
export async function jqTexts(values: readonly string[], expression: string): Promise<JqOutcome[]> {
  const outcomes: JqOutcome[] = []
  while (outcomes.length < values.length) {
    const some = values.slice(outcomes.length, outcomes.length + valuesPerCall)
    for (const outcome of await callOnce(some, expression))
      outcomes.push(typeof outcome === 'string' ? harmlessOnTerminal(outcome) : outcome)
  }
  return outcomes
}

/** Bounds what a call holds in memory. */
const valuesPerCall = 10_000

/** Outcomes of the values up to the one that ended jq, which is at least one. */
async function callOnce(values: readonly string[], expression: string): Promise<JqOutcome[]> {
  // Random, so that no message can contain it.
  const mark = crypto.randomUUID()
  const program = forEach(expression, mark)
  const { stdout, exitCode, stderr } = (await loadJq()).raw(values.join('\n'), program, ['-r', '-c'])
  if (exitCode === notCompiled) await checkJq(expression)
  // The library leaves out white space at both ends. Between the marks of a value is what jq printed for it.
  const parts = `${stdout}\n`.split(`${mark}\n`)
  const outcomes = parts.flatMap((part, at) => (at % 2 === 1 && at < parts.length - 1 ? [readOutcome(part, mark)] : []))
  if (outcomes.length < values.length) outcomes.push(exitCode === 0 ? '' : complaint(stderr))
  return outcomes
}

/**
 * A mark before and after the outputs of each value shows whose they are. An expression cannot read the next event with
 * `input`, or it would depend on the timing. The line break ends a comment.
 */
function forEach(expression: string, mark: string): string {
  const own = 'def input: error("No more inputs"); def inputs: empty; '
  return `${own}"${mark}", (try (${expression}\n) catch "error ${mark} \\(.)"), "${mark}"`
}

/** For a value on which the expression fails: the error alone. */
function readOutcome(printed: string, mark: string): JqOutcome {
  const at = printed.indexOf(`error ${mark} `)
  return at < 0 ? printed : complaint(printed.slice(at + `error ${mark} `.length))
}

/** jq's exit code. */
const notCompiled = 3

function loadJq(): Promise<Jq> {
  jq ??= import('jq-wasm').then(module => module.loadJq())
  return jq
}

function complaint(stderr: string): Failure {
  const [first] = stderr.replace(/^jq: (error: )?/, '').split('\n')
  return usage(`--jq: ${first!.replace(/:$/, '').replace(' at <top-level>', '')}`)
}
