// Files of a message: `send --file`, or the key `file` of a batch. They are uploaded, and the text gets links to them.

import { basename } from 'node:path'
import type { Endpoint, Upload } from '../../daemon/api/define.ts'
import { uploads } from '../../daemon/api/files/uploads.ts'
import type { Reply } from '../base/reply.ts'
import { type Given, readUpload, type Sources } from '../input/flags.ts'
import type { Request } from '../transport/client.ts'

/** Adds a link for each file to the text. Its address is known when the file is uploaded; until then it is a placeholder. */
export async function addLinks(
  { cli: { files } }: Endpoint,
  given: Map<string, Given>,
  sources: Sources,
): Promise<void> {
  const text = given.get(files!)
  const written = text === '-' ? await sources.stdin() : text
  const links = pathsIn(given).map((path, index) => `[${sanitizeName(path)}](${placeholder(index)})`)
  given.set(files!, [...(written === undefined ? [] : [[written].flat().join(' ')]), ...links].join('\n'))
  given.delete('@file')
}

/** Uploads the files, and puts their addresses into the request. */
export async function uploadFiles(
  { cli: { files } }: Endpoint,
  given: ReadonlyMap<string, Given>,
  fields: Map<string, string | Upload>,
  upload: (request: Request) => Promise<Reply>,
): Promise<void> {
  const paths = pathsIn(given)
  // All are read before the first is sent, so that a wrong name costs nothing.
  const contents = paths.map(path => readUpload(path, '--file'))
  let text = String(fields.get(files!))
  for (const [index, file] of contents.entries()) {
    const request = { method: 'POST', path: `/api/v1${uploads.upload.path}`, fields: new Map([['file', file]]) }
    const { url, uri } = await upload(request)
    text = text.replace(placeholder(index), String(url ?? uri))
  }
  fields.set(files!, text)
}

function pathsIn(given: ReadonlyMap<string, Given>): readonly string[] {
  return [given.get('@file') ?? []].flat().map(String)
}

/** Brackets would end the text of the link. */
function sanitizeName(path: string): string {
  return basename(path).replace(/[[\]\\]/g, '_')
}

function placeholder(index: number): string {
  return `/user_uploads/file-${index + 1}`
}
