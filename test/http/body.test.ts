// Bodies that are read as a whole.

import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { readBody } from '../../daemon/http/body.ts'
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
