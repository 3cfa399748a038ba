// The log in etcd is trimmed by entries and by bytes.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { positionToTrim } from '../../daemon/cluster/log-keeper.ts'

describe('the log in etcd is trimmed', () => {
  const mebibyte = 1024 * 1024
  const at = (synced: number[], used: number) => {
    const members = synced.map((position, i) => ({
      id: `${i}`,
      url: 'http://127.0.0.1:1',
      peer: undefined,
      version: '0.2.0',
      position,
      synced: position,
      time: 0,
    }))
    return positionToTrim({ head: { position: 10_000, term: 1 }, members }, used)
  }

  test('up to what every live daemon has on its disk, and keeps 1,000 entries', () => {
    assert.equal(at([10_000, 9990], mebibyte), 9000)
    assert.equal(at([10_000, 50], mebibyte), 50)
  })

  test('by bytes too: a large log keeps no entries that all have, a huge one waits for no daemon', () => {
    assert.equal(at([10_000, 9990], 300 * mebibyte), 9990)
    assert.equal(at([10_000, 50], 300 * mebibyte), 50)
    assert.equal(at([10_000, 50], 1100 * mebibyte), 10_000)
  })

  test('not beyond what two daemons have on their disks, while there is room', () => {
    assert.equal(at([10_000], mebibyte), 0)
    assert.equal(at([10_000], 300 * mebibyte), 10_000)
    assert.equal(at([], mebibyte), 0)
  })

  test('never beyond what some daemon has on its disk', () => {
    assert.equal(at([9990, 50], 1100 * mebibyte), 9990)
    assert.equal(at([0, 0], 1100 * mebibyte), 0)
  })
})
