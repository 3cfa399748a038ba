// Files that have not arrived whole: what one account, all accounts and the quota leave room for, at a single daemon and at a follower.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { State, type User } from '../../daemon/domain/model/state.ts'
import type { ServerFacts } from '../../daemon/domain/resource.ts'
import { ArrivingFiles } from '../../daemon/http/arriving-files.ts'
import type { Intake } from '../../daemon/http/body.ts'
import { HeldBytes } from '../../daemon/http/held-bytes.ts'

const MiB = 1024 * 1024
const GiB = 1024 * MiB

const amy = { id: 7 } as User
const bot = { id: 8, bot: { ownerId: 7 } } as User
const bob = { id: 9 } as User

/** Files that are arriving where all together may have 3 GiB, and each counts as 1 MiB at least. */
function arriving({ quota, inMemory = false }: { quota?: number; inMemory?: boolean } = {}) {
  const discarded: number[] = []
  const receive = () => {
    let size = 0
    return {
      get size() {
        return size
      },
      async write({ length }: Uint8Array) {
        size += length
      },
      discard: async () => void discarded.push(size),
    }
  }
  const server = { uploadQuotaMiB: quota } as ServerFacts
  const intake = { heldFiles: new HeldBytes(MiB), storedFiles: new HeldBytes(3 * GiB), leastOfFile: MiB }
  const files = new ArrivingFiles(
    { engine: { state: new State() }, server, files: { inMemory, receive } as never },
    intake as Intake,
  )
  return { files, discarded }
}

/** Of no content: only the length counts. */
const bytes = (length: number) => ({ length }) as Uint8Array

test('one account with its bots has room for 2 GiB, whatever arrives of others, and all have room together', async () => {
  const { files, discarded } = arriving()
  const [first, second, other] = [files.begin(amy), files.begin(bot), files.begin(bob)]
  await first.write(first.receive(), bytes(GiB))
  const file = second.receive()
  await second.write(file, bytes(GiB))
  await assert.rejects(second.write(file, bytes(1)), { code: 'SERVER_BUSY' })
  const others = other.receive()
  await other.write(others, bytes(GiB))
  await assert.rejects(other.write(others, bytes(1)), { code: 'SERVER_BUSY' })
  await first.end()
  await other.write(others, bytes(1))
  await second.end()
  await other.end()
  assert.deepEqual(discarded, [GiB, GiB, GiB + 1])
  const again = files.begin(bob)
  await again.write(again.receive(), bytes(2 * GiB))
})

test('empty files count too, as each has a descriptor', () => {
  const { files } = arriving()
  const own = files.begin(amy)
  for (let n = 0; n < 2048; n++) own.receive()
  assert.throws(() => own.receive(), { code: 'SERVER_BUSY' })
  files.begin(bob).receive()
})

test('what is arriving counts in the quota of the organization', async () => {
  const { files } = arriving({ quota: 50 })
  const [first, second] = [files.begin(amy), files.begin(bob)]
  await first.write(first.receive(), bytes(40 * MiB))
  const file = second.receive()
  // With a MiB for the forms around both.
  await second.write(file, bytes(11 * MiB))
  await assert.rejects(second.write(file, bytes(1)), { code: 'REALM_UPLOAD_QUOTA' })
  await first.end()
  await second.write(file, bytes(40 * MiB))
})

test('a daemon without a disk has less room', async () => {
  const { files } = arriving({ inMemory: true })
  const own = files.begin(amy)
  const file = own.receive()
  await own.write(file, bytes(MiB))
  await assert.rejects(own.write(file, bytes(1)), { code: 'SERVER_BUSY' })
})
