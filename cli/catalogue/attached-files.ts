// Files of a message: `send --file`, or the key `file` of a batch. They are uploaded, and the text gets links to them.

import { basename } from 'node:path'
import type { Endpoint, Upload } from '../../daemon/api/define.ts'
import { uploads } from '../../daemon/api/files/uploads.ts'
import { mostFiles } from '../../daemon/api/shapes/messages.ts'
import { usage } from '../base/failure.ts'
import type { Reply } from '../base/reply.ts'
import { checkUpload, type Given, readUpload, type Sources } from '../input/flags.ts'
import type { Request } from '../transport/client.ts'

/** Adds a link for each file to the text. Its address is known when the file is uploaded; until then it is a placeholder. */
export async function addLinks(
  { cli: { files } }: Endpoint,
  given: Map<string, Given>,
  sources: Sources,
): Promise<void> {
  const paths = pathsIn(given)
  if (paths.length > mostFiles) throw usage(`a message shares at most ${mostFiles} files; ${paths.length} were given`)
  const text = given.get(files!)
  const written = text === '-' ? await sources.stdin() : text
  const links = paths.map((path, index) => `[${sanitizeName(path)}](${placeholder(index)})`)
  given.set(files!, [...(written === undefined ? [] : [[written].flat().join(' ')]), ...links].join('\n'))
  given.delete('@file')
}

/** Uploads the files, and puts their addresses into the request. `upload` gets the number of the file in the message, from 1. */
export async function uploadFiles(
  { cli: { files } }: Endpoint,
  given: ReadonlyMap<string, Given>,
  fields: Map<string, string | Upload>,
  sources: Sources,
  upload: (request: Request, number: number) => Promise<Reply>,
): Promise<void> {
  const paths = pathsIn(given)
  // All are checked before the first is sent, so that a wrong name costs nothing, and read one by one: together they could fill the memory.
  for (const path of paths) checkUpload(path, '--file', sources)
  let text = String(fields.get(files!))
  for (const [index, path] of paths.entries()) {
    const file = readUpload(path, '--file', sources)
    const request = { method: 'POST', path: `/api/v1${uploads.upload.path}`, fields: new Map([['file', file]]) }
    const { url, uri } = await upload(request, index + 1)
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
