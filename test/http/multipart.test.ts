// Multipart bodies of any form: each is read or refused, and what it held is given back.

import assert from 'node:assert/strict'
import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import type { Upload } from '../../daemon/api/define.ts'
import { Refusal } from '../../daemon/domain/refusal.ts'
import { readMultipart } from '../../daemon/http/multipart.ts'
import type { UploadsInProgress } from '../../daemon/http/uploads-in-progress.ts'
import { cases } from '../support/cases.ts'

const type = 'multipart/form-data; boundary=b'
const head = (more = '') => `--b\r\nContent-Disposition: form-data; name="x"${more}\r\n`
const field = `${head()}\r\nvalue\r\n`
const file = `${head('; filename="x.txt"')}Content-Type: text/plain\r\n\r\nbytes\r\n`

const uploads = {
  count() {},
  receive: async (stream: Readable, more: Pick<Upload, 'filename' | 'contentType'>) => ({
    ...more,
    bytes: await buffer(stream),
  }),
} as unknown as UploadsInProgress

/** The parts, or the text of the refusal. */
async function read(text: string, size = text.length): Promise<string[] | string> {
  const parts: string[] = []
  const add = (_name: string, value: string | Upload) => {
    parts.push(typeof value === 'string' ? value : String(value.bytes))
  }
  const chunks: Buffer[] = []
  for (let at = 0; at < text.length; at += size) chunks.push(Buffer.from(text.slice(at, at + size)))
  try {
    await readMultipart(type, chunks, { most: 100, add, uploads })
    return parts
  } catch (error) {
    assert.ok(error instanceof Refusal, String(error))
    return error.message
  }
}

describe('readMultipart', () => {
  test('refuses a part that ends within its header, wherever it is', async () => {
    for (const body of [`${head()}--b--\r\n`, `${head()}\r\n--b--\r\n`, `${head()}${field}--b--\r\n`])
      for (const before of ['', 'preamble\r\n', field, file])
        assert.match(String(await read(before + body)), /^The multipart body cannot be read: /, before + body)
  })

  test('ends, whatever the lines are and however they arrive', { timeout: 60_000 }, async () => {
    const line = fc.constantFrom(
      '--b',
      '--b--',
      '',
      'Content-Disposition: form-data; name="x"',
      'x',
      '-',
      'Content-Type: a/b',
    )
    const piece = fc.oneof(
      fc.constantFrom(field, file, '--b--\r\n'),
      fc.tuple(line, fc.constantFrom('\r\n', '\n', '')).map(texts => texts.join('')),
    )
    const body = fc.array(piece, { maxLength: 12 }).map(pieces => pieces.join(''))
    await fc.assert(
      fc.asyncProperty(body, fc.integer({ min: 1, max: 40 }), async (body, size) => {
        await read(body)
        await read(body, size)
      }),
      { numRuns: cases(300) },
    )
  })
})
