// The limit on calls to the leader: bounds for each key and for all, and keys that wait are served in turn.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { FairLimit, mostBytesOfKey } from '../../daemon/cluster/fair-limit.ts'

/** Longer than a run: calls that a test leaves behind are not refused while other tests run. */
const aDay = 86_400_000

describe('calls', () => {
  /** Calls that run until they are ended, with what has begun. */
  const callsOn = (limit: FairLimit) => {
    const begun: string[] = []
    const ends = new Map<string, () => void>()
    const begin = (key: string, name: string, bytes = 0) =>
      limit.run(key, bytes, async () => {
        begun.push(name)
        await new Promise<void>(resolve => ends.set(name, resolve))
      })
    const end = async (name: string) => {
      ends.get(name)!()
      await nextTurn()
    }
    return { begun, begin, end }
  }

  test('of one key run in order, a bounded number at a time', async () => {
    const { begun, begin, end } = callsOn(new FairLimit(2, 10, aDay))
    for (const name of ['a1', 'a2', 'a3', 'a4']) void begin('a', name)
    await nextTurn()
    assert.deepEqual(begun, ['a1', 'a2'])
    await end('a2')
    assert.deepEqual(begun, ['a1', 'a2', 'a3'])
  })

  test('of a new key come after one of each other key, although these have many that wait', async () => {
    const { begun, begin, end } = callsOn(new FairLimit(2, 4, aDay))
    for (let i = 1; i <= 5; i++) for (const key of ['a', 'b']) void begin(key, `${key}${i}`)
    await nextTurn()
    assert.deepEqual(begun, ['a1', 'b1', 'a2', 'b2'])
    void begin('c', 'c1')
    for (const name of ['a1', 'b1', 'a2']) await end(name)
    assert.ok(begun.slice(4).includes('c1'), begun.join())
  })

  test('that end with an error leave room for the next', async () => {
    const limit = new FairLimit(1)
    await assert.rejects(limit.run('a', 1, () => Promise.reject(new Error('x'))))
    assert.equal(await limit.run('b', 1, async () => 'done'), 'done')
  })

  test('are refused when they do not come in time, and leave room for the next', async t => {
    const limit = new FairLimit(1, 2, 20)
    // The timer of a turn does not keep the process.
    const alive = setInterval(() => {}, 1000)
    t.after(() => clearInterval(alive))
    const { begun, begin, end } = callsOn(limit)
    const first = begin('a', 'a1')
    await assert.rejects(begin('a', 'a2'), { code: 'SERVER_BUSY' })
    await end('a1')
    await first
    void begin('a', 'a3')
    await nextTurn()
    assert.deepEqual(begun, ['a1', 'a3'])
  })

  test('that hold much in memory wait as long as there is room for it, and those of other keys still wait', async () => {
    const { begun, begin, end } = callsOn(new FairLimit(1, 1, aDay))
    const half = mostBytesOfKey / 2
    void begin('a', 'a1', mostBytesOfKey)
    void begin('a', 'a2', half)
    void begin('a', 'a3', half)
    await assert.rejects(begin('a', 'a4', 1), { code: 'SERVER_BUSY' })
    void begin('b', 'b1', half)
    for (const name of ['a1', 'a2', 'b1']) await end(name)
    // What has begun does not count.
    void begin('a', 'a5', half)
    await end('a3')
    assert.deepEqual(begun, ['a1', 'a2', 'b1', 'a3', 'a5'])
  })

  test('wait for room that is bounded over all keys too', async () => {
    const { begin } = callsOn(new FairLimit(1, 1, aDay))
    void begin('a', 'a1')
    for (let key = 0; key < 16; key++) void begin(`${key}`, `${key}`, mostBytesOfKey)
    await assert.rejects(begin('b', 'b1', 1), { code: 'SERVER_BUSY' })
    void begin('b', 'b2', 0)
  })

  test('are refused when a thousand of one key wait', async () => {
    const { begin } = callsOn(new FairLimit(1, 2, aDay))
    for (let i = 0; i <= 1000; i++) void begin('a', `a${i}`).catch(() => {})
    await assert.rejects(begin('a', 'one more'), { code: 'SERVER_BUSY' })
  })
})
