// Finds the line at which an ES module cannot be parsed. Node tells it where it prints such an error itself, not in the error that it throws.

import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { transform } from 'sucrase'

/** `path:line` in the first of the files of which `node --check` says the same as the error. */
export function locateSyntaxError({ message }: SyntaxError, files: readonly string[]): string | undefined {
  for (const path of files) {
    const input = readJavaScript(path)
    if (input === undefined) continue
    const options = ['--input-type=module', '--check', '-']
    const { stderr } = spawnSync(process.execPath, options, { input, encoding: 'utf8' })
    const [, line] = /^\[stdin\]:(\d+)$/m.exec(stderr) ?? []
    if (line !== undefined && stderr.includes(message)) return `${path}:${line}`
  }
  return undefined
}

/** Undefined for what is no ES module, and for a file that cannot be read, or whose types cannot: those errors have their place. */
function readJavaScript(path: string): string | undefined {
  try {
    if (/\.m?js$/.test(path)) return readFileSync(path, 'utf8')
    if (/\.m?ts$/.test(path)) return transform(readFileSync(path, 'utf8'), { transforms: ['typescript'] }).code
  } catch {}
  return undefined
}
