// Long work of the control plane: one piece after the other, for all worlds.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { inTurn, Writing } from '../../daemon/control/in-turn.ts'

test('long work is done one after the other, that of worlds in turn, and after what arrives meanwhile', async () => {
  const [one, other] = [{}, {}]
  const done: string[] = []
  let atOnce = 0
  const work = (world: object, name: string) =>
    inTurn(world, async () => {
      assert.equal(++atOnce, 1)
      await nextTurn()
      atOnce--
      done.push(name)
    })
  await Promise.all([work(one, 'a'), work(one, 'b'), work(one, 'c'), work(other, 'x'), work(other, 'y')])
  assert.deepEqual(done, ['a', 'b', 'x', 'c', 'y'])
})

test('work that fails keeps no other waiting, and too much work of a world is refused', async () => {
  const world = {}
  const failing = inTurn(world, async () => {
    await nextTurn()
    throw new Error('no')
  })
  const waiting = Array.from({ length: 50 }, () => inTurn(world, () => 1))
  await assert.rejects(
    inTurn(world, () => 1),
    /Too many of your requests wait/,
  )
  await assert.rejects(failing, /no/)
  assert.equal((await Promise.all(waiting)).length, 50)
})

test('files of one world are written one after the other, and one that its client leaves ends', async () => {
  const writing = new Writing()
  let begun = 0
  async function* pieces() {
    begun++
    yield 1
    yield 2
  }
  const left = writing.write(pieces)
  assert.deepEqual(await left.next(), { done: false, value: 1 })
  const next = writing.write(pieces)
  const first = next.next()
  await nextTurn()
  assert.equal(begun, 1)
  await left.return(undefined)
  assert.deepEqual(await first, { done: false, value: 1 })
  assert.deepEqual(await next.next(), { done: false, value: 2 })
  assert.equal((await next.next()).done, true)
})
