// Uploads inside of a snapshot file or a seed: base64, under the name that their content gives them.

import { createHash } from 'node:crypto'

export interface SavedUpload {
  /** By which rows refer to it: the hash of its content. */
  readonly name: string
  /** Base64. */
  readonly content: string
}

/** Keeps them all, or none if one of them is not what its name says. */
export async function keepUploads(
  uploads: readonly SavedUpload[],
  keep: (bytes: Uint8Array) => Promise<unknown>,
): Promise<void> {
  const contents = uploads.map(({ name, content }, index) => {
    const bytes = Buffer.from(content, 'base64')
    if (createHash('sha256').update(bytes).digest('hex') !== name)
      throw new Error(`uploads, row ${index + 1}: name: must be the SHA-256 of the content`)
    return bytes
  })
  for (const bytes of contents) await keep(bytes)
}
