// Where the pages get their matter: the catalogue, loaded whole, and the text of the source files.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { controlPages } from '../../daemon/api/control.ts'
import { catalogue } from '../../daemon/api/index.ts'
import { type CatalogueResource, loadPages } from '../../daemon/api/openapi.ts'

export type { CatalogueResource }

export const root = join(import.meta.dirname, '../..')

export function loadCatalogue(): Promise<readonly CatalogueResource[]> {
  return loadPages(catalogue)
}

export function loadControlPages(): Promise<readonly CatalogueResource[]> {
  return loadPages(controlPages)
}

export interface SourceFile {
  /** From the root of the repository, with slashes. */
  readonly path: string
  readonly text: string
}

/** The TypeScript files under a folder, in order of their paths. */
export function sourceFiles(folder: string): SourceFile[] {
  const names = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
  return names
    .filter(name => name.endsWith('.ts'))
    .map(name => `${folder}/${name.replaceAll('\\', '/')}`)
    .sort()
    .map(path => ({ path, text: readFileSync(join(root, path), 'utf8') }))
}
