// `--jq`: jq compiled to WebAssembly, loaded on demand.

import type { Jq } from 'jq-wasm'
import { type Failure, harmlessOnTerminal, usage } from '../base/failure.ts'

let engine: Promise<Jq> | undefined

/** Rejects an invalid expression before there is anything to apply it to. */
export async function checkJq(expression: string): Promise<void> {
  const { stderr, exitCode } = (await loaded()).raw(null as never, expression)
  if (exitCode === notCompiled) throw complaint(stderr)
}

/** The output of the expression: strings as they are, other values as one line of JSON; each with a line break. */
export async function jqText(value: unknown, expression: string): Promise<string> {
  const { stdout, stderr, exitCode } = (await loaded()).raw(value as object, expression, ['-r', '-c'])
  if (exitCode !== 0) throw complaint(stderr)
  const text = harmlessOnTerminal(stdout)
  return text === '' || text.endsWith('\n') ? text : `${text}\n`
}

/** jq's exit code. */
const notCompiled = 3

function loaded(): Promise<Jq> {
  engine ??= import('jq-wasm').then(module => module.loadJq())
  return engine
}

function complaint(stderr: string): Failure {
  return usage(`--jq: ${stderr.replace(/^jq: (error: )?/, '').split('\n')[0]}`)
}
