// A daemon of a cluster notices that its disk hangs.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { DiskWatch, watchDisk } from '../../daemon/cluster/disk-watch.ts'
import { until } from '../support/until.ts'

describe('a disk', () => {
  test('that does not answer in time is noticed, and its answer still counts', async () => {
    let answer = (_: number) => {}
    const work = new Promise<number>(resolve => {
      answer = resolve
    })
    const errors: Error[] = []
    const watched = watchDisk(work, error => errors.push(error), 10)
    await until(() => errors.length > 0)
    assert.equal(errors[0]!.message, 'the disk of the store has not answered for 0.01 seconds')
    answer(7)
    assert.equal(await watched, 7)
  })

  test('that answers or fails is not', async () => {
    const unexpected = () => assert.fail('it was noticed')
    assert.equal(await watchDisk(Promise.resolve(7), unexpected, 1), 7)
    await assert.rejects(watchDisk(Promise.reject(new Error('full')), unexpected, 1), /full/)
    await new Promise(resolve => setTimeout(resolve, 20))
  })

  test('that answers a little after a process that was stopped for long is not', async () => {
    const work = (async () => {
      for (let turns = 0; turns < 5; turns++) await new Promise(resolve => setImmediate(resolve))
      return 7
    })()
    const watched = watchDisk(work, () => assert.fail('it was noticed'), 1000)
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1100)
    assert.equal(await watched, 7)
  })

  test('that hangs does not keep reports waiting, which go on with what was on it before', async () => {
    const answers: ((position: number) => void)[] = []
    const journal = { sync: () => new Promise<number>(resolve => answers.push(resolve)) }
    const watch = new DiskWatch(() => assert.fail('it was noticed'))
    const first = watch.sync(journal)
    answers[0]!(7)
    assert.equal(await first, 7)
    assert.equal(await watch.sync(journal), 7)
    assert.equal(await watch.sync(journal), 7)
    assert.equal(answers.length, 2, 'one attempt waits for the disk')
    answers[1]!(9)
    await until(async () => (await watch.sync(journal)) === 9)
  })
})
