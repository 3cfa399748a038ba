// Where the pages get their matter: the catalogue, loaded whole, and the text of the source files.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { controlPages } from '../../daemon/api/control.ts'
import type { Endpoint, Page } from '../../daemon/api/define.ts'
import { catalogue } from '../../daemon/api/index.ts'

export const root = join(import.meta.dirname, '../..')

export interface CatalogueResource {
  readonly name: string
  readonly about: string
  readonly endpoints: readonly Endpoint[]
}

export function loadCatalogue(): Promise<readonly CatalogueResource[]> {
  return loadAll(catalogue)
}

export function loadControlPages(): Promise<readonly CatalogueResource[]> {
  return loadAll(controlPages)
}

async function loadAll(contents: Readonly<Record<string, Page>>): Promise<readonly CatalogueResource[]> {
  const resources: CatalogueResource[] = []
  for (const [name, { about, load }] of Object.entries(contents))
    resources.push({ name, about, endpoints: Object.values(await load()) })
  return resources
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
