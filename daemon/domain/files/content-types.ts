// The media type of an upload: what the sender says, or what the name says; with the encoding of plain text.

import type { Upload } from '../../api/define.ts'

const types: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  svg: 'image/svg+xml',
  pdf: 'application/pdf',
  txt: 'text/plain',
  md: 'text/markdown',
  csv: 'text/csv',
  html: 'text/html',
  json: 'application/json',
  zip: 'application/zip',
  mp3: 'audio/mpeg',
  ogg: 'audio/ogg',
  wav: 'audio/wav',
  mp4: 'video/mp4',
  webm: 'video/webm',
}

const token = /^[\w.+-]{1,60}$/

/** As it is sent in the header Content-Type. */
export function detectContentType({ filename, contentType, bytes }: Upload): string {
  const [given = '', ...rest] = contentType.split(';').map(part => part.trim())
  const type = /^[\w.+-]{1,60}\/[\w.+-]{1,60}$/.test(given) ? given.toLowerCase() : 'application/octet-stream'
  if (type === 'application/octet-stream') return withEncoding(typeByName(filename) ?? type, bytes)
  const parameters = rest.slice(0, 5).flatMap(parseParameter)
  if (parameters.some(([name]) => name === 'charset')) return withParameters(type, parameters)
  return withParameters(withEncoding(type, bytes), parameters)
}

function typeByName(filename: string): string | undefined {
  const ending = filename.slice(filename.lastIndexOf('.') + 1).toLowerCase()
  return Object.hasOwn(types, ending) ? types[ending] : undefined
}

function parseParameter(text: string): [name: string, value: string][] {
  const [name = '', value = ''] = text.split('=', 2)
  const bare = value.replace(/^"(.*)"$/, '$1')
  return token.test(name) && token.test(bare) ? [[name.toLowerCase(), bare]] : []
}

function withParameters(type: string, parameters: readonly (readonly [string, string])[]): string {
  return [type, ...parameters.map(([name, value]) => `${name}="${value}"`)].join('; ')
}

/** Plain text is the only text that browsers show, so it needs an encoding. */
function withEncoding(type: string, bytes: Uint8Array): string {
  const encoding = type === 'text/plain' ? detectEncoding(bytes) : undefined
  return encoding === undefined ? type : `${type}; charset="${encoding}"`
}

// OPEN: the public server guesses more encodings of uploaded texts than natter does, by statistics.
/** The encoding of a text, where its bytes leave little doubt. */
function detectEncoding(bytes: Uint8Array): string | undefined {
  if (bytes.every(byte => byte < 0x80)) return isEscaped(bytes) ? 'ISO-2022-JP' : 'ascii'
  if (isUtf8(bytes)) return 'utf-8'
  // Letters of western languages; what else is above ASCII may be anything.
  return bytes.every(byte => byte < 0x80 || byte >= 0xc0) ? 'ISO-8859-1' : undefined
}

/** Whether the text switches to Japanese characters by an escape sequence. */
function isEscaped(bytes: Uint8Array): boolean {
  return bytes.some((byte, at) => byte === 0x1b && bytes[at + 1] === 0x24)
}

/** The bytes can be the beginning of a file, and end inside a character. */
function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true })
    return true
  } catch {
    return false
  }
}
