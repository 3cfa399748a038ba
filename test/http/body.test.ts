// Bodies that are read as a whole, or piece by piece.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { PassThrough } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { readBody, readPieces } from '../../daemon/http/body.ts'
import { HeldBytes } from '../../daemon/http/held-bytes.ts'

test('a request that waits for its turn to be answered does not keep its body', async () => {
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  const raw = Object.assign(new PassThrough(), { headers: {} }) as unknown as IncomingMessage
  const read = async () => {
    const reading = readBody(raw, 1_000_000, new HeldBytes(1_000_000))
    ;(raw as unknown as PassThrough).end(Buffer.alloc(500_000))
    return new WeakRef(await reading)
  }
  const body = await read()
  await nextTurn()
  collect()
  assert.equal(body.deref(), undefined)
  assert.ok(raw.readableEnded)
})

test('the body of a client that has gone before it is read is refused', async () => {
  const raw = Object.assign(new PassThrough(), { headers: {} })
  raw.write('the first part')
  raw.destroy()
  await once(raw, 'close')
  const request = raw as unknown as IncomingMessage
  for (const reading of [readBody(request, 1000, new HeldBytes(1000)), buffer(readPieces(request, 1000))])
    await assert.rejects(reading, { message: 'The body ended early.' })
})

test('pieces have all bytes in their order, however slowly they are taken, and end at the limit', async () => {
  const bytes = randomBytes(300_000)
  for (const [limit, sizes] of [
    [300_000, [1, 999, 65_536, 70_000]],
    [299_999, [50_000]],
  ] as const)
    for (const size of sizes) {
      const raw = Object.assign(new PassThrough(), { headers: {} })
      const read: Buffer[] = []
      const reading = async () => {
        for await (const piece of readPieces(raw as unknown as IncomingMessage, limit)) {
          read.push(piece)
          await nextTurn()
        }
      }
      for (let at = 0; at < bytes.length; at += size) raw.write(bytes.subarray(at, at + size))
      raw.end()
      if (limit < bytes.length) await assert.rejects(reading(), { code: 'BAD_REQUEST', status: 413 })
      else {
        await reading()
        assert.ok(Buffer.concat(read).equals(bytes), `${size}`)
      }
    }
})
