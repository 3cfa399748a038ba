// `--jq`: real jq, compiled to WebAssembly, loaded when it is asked for.

import type { Jq } from 'jq-wasm'
import { usage } from './failure.ts'

let engine: Promise<Jq> | undefined

/** What the expression prints: a text as it is, everything else as one line of JSON; each with a line break. */
export async function jqText(value: unknown, expression: string): Promise<string> {
  engine ??= import('jq-wasm').then(module => module.loadJq())
  const { stdout, stderr, exitCode } = (await engine).raw(value as object, expression, ['-r', '-c'])
  if (exitCode !== 0) throw usage(`--jq: ${stderr.replace(/^jq: (error: )?/, '').split('\n')[0]}`)
  return stdout === '' || stdout.endsWith('\n') ? stdout : `${stdout}\n`
}
