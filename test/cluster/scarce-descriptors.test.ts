// Steps that need a file descriptor when there is none.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { untilDescriptorsAreFree } from '../../daemon/cluster/scarce-descriptors.ts'

/** A step that fails this often, and how often it was tried. */
function failing(times: number, code: string) {
  const tried = { count: 0 }
  const step = async () => {
    if (++tried.count <= times) throw Object.assign(new Error(`${code}: too many open files`), { code })
  }
  return { step, tried }
}

test('a step without a free file descriptor is repeated', async () => {
  const { step, tried } = failing(1, 'EMFILE')
  await untilDescriptorsAreFree(step, () => false)
  assert.equal(tried.count, 2)
})

test('it is not repeated when it is no longer wanted, or fails for another reason', async () => {
  const unwanted = failing(1, 'ENFILE')
  await assert.rejects(
    untilDescriptorsAreFree(unwanted.step, () => true),
    { code: 'ENFILE' },
  )
  const damaged = failing(1, 'EIO')
  await assert.rejects(
    untilDescriptorsAreFree(damaged.step, () => false),
    { code: 'EIO' },
  )
  assert.deepEqual([unwanted.tried.count, damaged.tried.count], [1, 1])
})
