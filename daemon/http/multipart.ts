// Reads a multipart body part by part, without trusting that it is whole. Large files go to the disk as they arrive.

import type { EventEmitter } from 'node:events'
import { setImmediate as turn } from 'node:timers/promises'
import type { Upload } from '../api/define.ts'
import { malformed, Refusal } from '../domain/refusal.ts'
import { BodyRefused, diskRefusal } from './body.ts'
import type { UploadsInProgress } from './uploads-in-progress.ts'

interface PartsReader {
  /** Parts that a body may have. */
  readonly most: number
  /** Takes a part; throws to refuse the body. */
  add(name: string, value: string | Upload): void
  readonly uploads: UploadsInProgress
}

/** Bytes given to the parser at a time: it works through them in one turn, which holds up other requests. */
const sliceBytes = 16 * 1024
/** Bytes of all that is not a file. */
const mostText = 1024 * 1024

const loadParser = () => import('@fastify/busboy')
// Shared by all worlds: a module that is loaded once.
let loading: ReturnType<typeof loadParser> | undefined

/** Text that is not UTF-8 becomes U+FFFD, as it does in forms. */
export async function readMultipart(
  contentType: string,
  body: AsyncIterable<Buffer> | Iterable<Buffer>,
  { most, add, uploads }: PartsReader,
): Promise<void> {
  // Loaded with the first such body: most daemons never see one.
  loading ??= loadParser()
  const { Busboy } = await loading
  let failed = false
  let text = 0
  let files: Promise<void> = Promise.resolve()
  await new Promise<void>((resolve, reject) => {
    let endFeeding = () => {}
    const failure = new Promise<void>(resolve => {
      endFeeding = resolve
    })
    const fail = (error: unknown) => {
      failed = true
      endFeeding()
      const refusal = error instanceof Refusal ? error : diskRefusal(error)
      reject(refusal ?? malformed(`The multipart body cannot be read: ${reason(error)}.`))
    }
    const attempt = (work: () => void) => {
      try {
        if (!failed) work()
      } catch (error) {
        fail(error)
      }
    }
    const feed = async () => {
      const parser = new Busboy({
        headers: { 'content-type': contentType },
        limits: { parts: most + 1, fieldSize: mostText },
      })
      parser.on('field', (name, value, _nameTruncated, truncated) =>
        attempt(() => {
          if (truncated) throw new BodyRefused(`${name}: must be at most 1 MiB`, { kind: 'invalid', status: 413 })
          text += value.length
          if (text > mostText)
            throw new BodyRefused('All that is not a file must be at most 1 MiB.', { kind: 'invalid', status: 413 })
          add(requireName(name), value)
        }),
      )
      const typeOfPart = watchTypes(parser)
      parser.on('file', (name, stream, filename) => {
        const type = typeOfPart()
        // For a body that ends inside a file: an unhandled error would end the process.
        stream.on('error', fail)
        const take = async (part: string) => {
          const file = await uploads.receive(stream, { filename: filename ?? '', contentType: type })
          attempt(() => add(part, file))
        }
        // Checked now, so that of two mistakes the first is reported, however the rest arrives.
        attempt(() => {
          files = Promise.all([files, take(requireName(name))]).then(() => {})
        })
        files.catch(fail)
      })
      parser.on('partsLimit', () => fail(malformed(`Too many parameters (limit: ${most}).`)))
      parser.on('error', fail)
      parser.on('finish', () => files.then(resolve, fail))
      const write = (slice: Buffer) => new Promise<unknown>(written => parser.write(slice, written))
      // Bounded by the size of the body. Nothing is fed after a failure: the parser may have parts without a listener by
      // then. Nor is it waited for: it takes no more while a file that cannot be written is in its way.
      for await (const chunk of body)
        for (let start = 0; start < chunk.length && !failed; start += sliceBytes) {
          const slice = chunk.subarray(start, start + sliceBytes)
          uploads.count(slice.length)
          await Promise.race([write(slice), failure])
          // Other requests are served between two slices.
          if (start + sliceBytes < chunk.length) await turn()
        }
      if (failed) return
      parser.end()
      await files
      await turn()
      // Does nothing after an end. The parser never ends if a part ends within its header.
      fail(new Error('one of its parts has no end'))
    }
    feed().catch(fail)
  })
}

interface PartHeaders {
  on(event: 'header', listener: (header: Readonly<Record<string, readonly string[]>>) => void): void
}

/**
 * The header Content-Type of the newest part as it is, empty where there is none. The parser reports it without its parameters,
 * and a missing one as plain text; its inner parser has the headers.
 */
function watchTypes(parser: object): () => string {
  let type = ''
  const { parser: inner } = (parser as { readonly _parser: { readonly parser: EventEmitter } })._parser
  // Before the listener of the parser itself, which announces the file.
  inner.prependListener('part', (part: PartHeaders) =>
    part.on('header', header => {
      type = header['content-type']?.[0] ?? ''
    }),
  )
  return () => type
}

function requireName(name: string | undefined): string {
  if (name === undefined) throw malformed('A part of the multipart body has no name.')
  return name
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : 'unknown reason'
}
