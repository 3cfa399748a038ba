// The project's own files, for the laws about them.

import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, sep } from 'node:path'

export const root = join(import.meta.dirname, '../..')

export interface Source {
  /** Relative to the project, with slashes. */
  readonly path: string
  readonly text: string
  /** Without comments, line by line as before. */
  readonly code: string
}

/** TypeScript files under these folders and files. */
export function sources(...places: readonly string[]): Source[] {
  return places.flatMap(filesUnder).filter(isCode).map(readSource)
}

export function filesUnder(place: string): string[] {
  const full = join(root, place)
  const stat = statSync(full, { throwIfNoEntry: false })
  if (!stat) return []
  if (stat.isFile()) return [place]
  return (readdirSync(full, { recursive: true }) as string[])
    .map(file => join(place, file).split(sep).join('/'))
    .filter(file => statSync(join(root, file)).isFile())
    .sort()
}

function isCode(path: string): boolean {
  return /\.(tsx?|js)$/.test(path)
}

export function readSource(path: string): Source {
  const text = readFileSync(join(root, path), 'utf8')
  return { path, text, code: withoutComments(text) }
}

/** Good enough for our own style: strings and templates are kept, and no regular expression of ours holds // or a quote. */
function withoutComments(text: string): string {
  return text.replace(
    /('(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`)|\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/[^\n]*/g,
    (match, literal?: string) => literal ?? match.replace(/[^\n]/g, ''),
  )
}
