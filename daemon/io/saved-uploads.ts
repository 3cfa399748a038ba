// Uploads inside of a snapshot file or a seed: base64, under the name that their content gives them.

import { createHash } from 'node:crypto'
import type { State } from '../domain/model/state.ts'
import { namedFiles } from './unneeded-files.ts'

export interface SavedUpload {
  /** By which rows refer to it: the hash of its content. */
  readonly name: string
  /** Base64. */
  readonly content: string
}

/** Keeps those that a row of the state names. Keeps none if any is not what its name says. */
export async function keepUploads(
  uploads: readonly SavedUpload[],
  state: State,
  keep: (bytes: Uint8Array) => Promise<unknown>,
): Promise<void> {
  const contents = uploads.map(({ name, content }, index) => {
    const bytes = Buffer.from(content, 'base64')
    if (createHash('sha256').update(bytes).digest('hex') !== name)
      throw new Error(`uploads, row ${index + 1}: name: must be the SHA-256 of the content`)
    return bytes
  })
  const named = new Set(namedFiles(state))
  for (const [index, { name }] of uploads.entries()) if (named.has(name)) await keep(contents[index]!)
}
