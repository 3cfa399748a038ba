// A multipart body, for calls that carry a file.

import type { Upload } from '../../daemon/api/define.ts'

export interface Multipart {
  readonly type: string
  readonly bytes: Uint8Array
}

export async function multipart(fields: ReadonlyMap<string, string | Upload>): Promise<Multipart> {
  const form = new FormData()
  for (const [name, value] of fields)
    if (typeof value === 'string') form.append(name, value)
    else form.append(name, new Blob([value.bytes as never], { type: value.contentType }), value.filename)
  const body = new Response(form)
  return { type: body.headers.get('content-type')!, bytes: new Uint8Array(await body.arrayBuffer()) }
}
