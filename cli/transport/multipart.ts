// A multipart body, for calls that carry a file.

import { randomBytes } from 'node:crypto'
import type { Upload } from '../../daemon/api/define.ts'

export function multipart(fields: ReadonlyMap<string, string | Upload>): { type: string; bytes: Uint8Array } {
  const boundary = `natter-${randomBytes(16).toString('hex')}`
  const parts: Uint8Array[] = []
  for (const [name, value] of fields) {
    const file =
      typeof value === 'string' ? '' : `; filename="${quote(value.filename)}"\r\nContent-Type: ${value.contentType}`
    parts.push(Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="${quote(name)}"${file}\r\n\r\n`))
    parts.push(typeof value === 'string' ? Buffer.from(value) : value.bytes, Buffer.from('\r\n'))
  }
  parts.push(Buffer.from(`--${boundary}--\r\n`))
  return { type: `multipart/form-data; boundary=${boundary}`, bytes: Buffer.concat(parts) }
}

/** Escapes names in quotes as browsers do. */
function quote(name: string): string {
  return name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}
