// Finds the line at which a module cannot be parsed. Node adds it to errors of CommonJS modules, but to those of ES modules only where it prints them itself.

import { readFileSync } from 'node:fs'
import { extname } from 'node:path'
import { Script } from 'node:vm'
import { transform } from 'sucrase'

/** `path:line` in the first of the files that V8 refuses as this error says; otherwise in the first that another parser refuses. */
export function locateSyntaxError({ message }: SyntaxError, files: readonly string[]): string | undefined {
  const sources = files.map(path => ({ path, source: readJavaScript(path) }))
  const lineOf = [(source: string) => lineOfScript(source, message), lineOfParser]
  for (const find of lineOf)
    for (const { path, source } of sources) {
      const line = find(source)
      if (line !== undefined) return `${path}:${line}`
    }
  return undefined
}

/** Empty if there is none to read; errors in types have their place already. */
function readJavaScript(path: string): string {
  try {
    const source = readFileSync(path, 'utf8').replace(/^#!.*/, '')
    if (/^\.[cm]?ts$/.test(extname(path))) return transform(source, { transforms: ['typescript'] }).code
    return /^\.[cm]?js$/.test(extname(path)) ? source : ''
  } catch {
    return ''
  }
}

/** Statements that only a module can have, with a name of another module, or with names only. */
const links =
  /^[ \t]*(?:import\b(?!\s*[.(])|export\s*(?:\*|\{[^}]*\}\s*from\b))[^'"]*(['"])[^'"\n]*\1(?:\s*with\s*\{[^}]*\})?|^[ \t]*export\s*\{[^}]*\}/gm

/** V8 says the line of a script only. Every other line of a module can be one of a script. */
function lineOfScript(source: string, message: string): number | undefined {
  const body = source
    .replace(links, statement => statement.replace(/[^\n]/g, ''))
    .replace(/^[ \t]*export\s+default\b/gm, 'exports =')
    .replace(/^[ \t]*export\s+(?=(?:const|let|var|async|function|class)\b)/gm, '')
    .replace(/\bimport\.meta\b/g, 'exports')
  try {
    new Script(`(async function (exports) { 'use strict'; ${body}\n})`, { filename: 'module' })
  } catch (error) {
    const { message: said, stack = '' } = error as SyntaxError
    if (said === message) return Number(/^module:(\d+)\n/.exec(stack)?.[1])
  }
  return undefined
}

/** Of an error in such a statement. */
function lineOfParser(source: string): number | undefined {
  try {
    transform(source, { transforms: [] })
  } catch (error) {
    const place = /\((\d+):\d+\)$/.exec((error as Error).message)
    if (place) return Number(place[1])
  }
  return undefined
}
