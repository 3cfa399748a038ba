// Whether the log is the one that a daemon has followed so far, with batches in memory in the place of etcd.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { checkEnd, checkHistory } from '../../daemon/cluster/history.ts'
import { AnotherHistory } from '../../daemon/cluster/keys.ts'
import type { SharedLog } from '../../daemon/cluster/log.ts'
import type { Batch } from '../../daemon/journal/replicated-journal.ts'
import { entryLine, lastSum } from '../../daemon/journal/segment-format.ts'

function lineOf(position: number, op: string): string {
  return entryLine(position, { time: 1, actor: null, op, facts: [] })
}

function batchOf(first: number, last: number, op = 'ours'): Batch {
  const positions = Array.from({ length: last - first + 1 }, (_, index) => first + index)
  return { first, last, lines: positions.map(position => lineOf(position, op)).join('') }
}

/** Checks our entry at the position with a log of these batches, oldest first. */
function checkAt(
  position: number,
  batches: readonly Batch[],
  sum: string | undefined = lastSum(lineOf(position, 'ours')),
) {
  const log = {
    async *readBack() {
      yield* batches.filter(({ first }) => first <= position).reverse()
    },
  }
  return checkHistory(log as unknown as SharedLog, { position, sum }, { position: 9, term: 1 })
}

describe('the history of a cluster', () => {
  test('may go on, and does not go back', () => {
    checkEnd(7, 7)
    checkEnd(7, 8)
    assert.throws(() => checkEnd(8, 7), /ends at position 7, but this daemon has entries up to 8/)
  })

  test('has the newest entry of this daemon, wherever that is in its batch', async () => {
    for (let position = 1; position <= 9; position++)
      await checkAt(position, [batchOf(1, 3), batchOf(4, 4), batchOf(5, 9)])
  })

  test('is another one if it has another entry in its place', async () => {
    for (const position of [4, 5, 9]) {
      const checking = checkAt(position, [batchOf(1, 3), batchOf(4, 4, 'other'), batchOf(5, 9, 'other')])
      await assert.rejects(checking, (error: Error) => {
        assert.ok(error instanceof AnotherHistory)
        assert.match(error.message, new RegExp(`another entry at position ${position} than this daemon`))
        return true
      })
    }
  })

  test('is not another one because of a key that another program has put before the entry', async () => {
    await checkAt(5, [batchOf(1, 9), batchOf(4, 9, 'by another program')])
  })

  test('cannot be known if the log begins later, or if an older natter has not kept the sum', async () => {
    await checkAt(5, [])
    await checkAt(5, [batchOf(6, 9, 'other')])
    const log = { readBack: () => assert.fail('reads nothing') } as unknown as SharedLog
    await checkHistory(log, { position: 5, sum: undefined }, { position: 9, term: 1 })
  })
})
