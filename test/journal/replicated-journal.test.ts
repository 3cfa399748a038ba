// The journal of a daemon in a cluster, with a log in memory in the place of etcd: who appends, what is taken, and what is on disk.

import assert from 'node:assert/strict'
import { readFileSync, rmSync } from 'node:fs'
import { describe, test } from 'node:test'
import { type Batch, NotLeading, ReplicaFailed, ReplicatedJournal } from '../../daemon/journal/replicated-journal.ts'
import { entryLine } from '../../daemon/journal/segment-format.ts'
import { StoreGone } from '../../daemon/journal/store-folder.ts'
import type { Disk } from '../../daemon/local/durable-files.ts'
import { countingDisk } from '../support/counting-disk.ts'
import { collect, journalContract, newEntry, type TestFact } from '../support/journal-contract.ts'
import { active, letters, newFolder, openFile, texts } from '../support/journal-files.ts'

/** A journal that leads, and what it has committed. `commit` may delay or refuse. */
async function lead(folder = newFolder(), commit: (batch: Batch) => Promise<void> = async () => {}) {
  const batches: Batch[] = []
  const journal = new ReplicatedJournal<TestFact>(await openFile(folder))
  journal.lead({
    async commit(batch) {
      await commit(batch)
      batches.push(batch)
    },
  })
  return { journal, batches, folder }
}

async function follow(folder = newFolder()) {
  const journal = new ReplicatedJournal<TestFact>(await openFile(folder))
  return { journal, folder }
}

function batchOf(first: number, all: readonly string[]): Batch {
  const lines = all.map((text, index) => entryLine(first + index, newEntry(text))).join('')
  return { first, last: first + all.length - 1, lines }
}

journalContract('ReplicatedJournal', async () => (await lead()).journal)

describe('ReplicatedJournal: the leader', () => {
  test('commits what gathers together, with the positions of the first and the last', async () => {
    const { journal, batches, folder } = await lead()
    const all = letters(5)
    const appended = all.map(text => journal.append(newEntry(text)))
    assert.deepEqual([journal.position, journal.committed], [5, 0])
    await appended[4]!.durable
    assert.deepEqual(batches, [batchOf(1, all)])
    await journal.append(newEntry('more')).durable
    assert.deepEqual(batches[1], batchOf(6, ['more']))
    assert.equal(journal.committed, 6)
    await journal.close()
    assert.deepEqual(await texts(folder), [...all, 'more'])
  })

  test('has nothing in its file before the log has taken it', async () => {
    const folder = newFolder()
    let taken: (() => void) | undefined
    const { journal } = await lead(folder, () => new Promise(resolve => (taken = resolve)))
    const before = readFileSync(active(folder), 'utf8')
    const { durable } = journal.append(newEntry('a'))
    while (!taken) await new Promise(resolve => setImmediate(resolve))
    assert.equal(readFileSync(active(folder), 'utf8'), before)
    taken()
    await durable
    const after = readFileSync(active(folder), 'utf8')
    assert.equal(after.replace(/\t+$/, ''), before + entryLine(1, newEntry('a')))
    await journal.close()
  })

  test('whose commit is refused has failed for good, and its file holds nothing of it', async () => {
    const deposed = new Error('deposed')
    const { journal, folder } = await lead(newFolder(), async () => {
      throw deposed
    })
    await assert.rejects(journal.append(newEntry('a')).durable, deposed)
    assert.equal(journal.failure, deposed)
    await assert.rejects(journal.append(newEntry('b')).durable, deposed)
    await assert.rejects(collect(journal.replay(0)), deposed)
    await assert.rejects(journal.seal(), deposed)
    await journal.close()
    assert.deepEqual(await texts(folder), [])
  })

  test('takes no entries of others', async () => {
    const { journal } = await lead()
    assert.throws(() => journal.take(batchOf(1, ['a'])), /a leader takes no entries of others/)
    await journal.close()
  })
})

describe('ReplicatedJournal: a follower', () => {
  test('does not append until it leads, and goes on from where it is', async () => {
    const { journal } = await follow()
    assert.throws(
      () => journal.append(newEntry('a')),
      error =>
        error instanceof NotLeading && error.name === 'NotLeading' && /does not lead its cluster/.test(error.message),
    )
    await journal.take(batchOf(1, ['a'])).written
    const committed: Batch[] = []
    journal.lead({ commit: async batch => void committed.push(batch) })
    assert.equal(journal.append(newEntry('b')).position, 2)
    await journal.append(newEntry('c')).durable
    assert.deepEqual(committed, [batchOf(2, ['b', 'c'])])
    await journal.close()
  })

  test('seals what it has at the call: a snapshot of that moment replaces no entry that it takes after it', async () => {
    const { journal, folder } = await follow()
    journal.take(batchOf(1, ['a', 'b']))
    const sealing = journal.seal()
    journal.take(batchOf(3, ['c']))
    assert.equal(await sealing, 2)
    await journal.forget(2)
    await journal.close()
    assert.deepEqual(await texts(folder, 2), ['c'])
  })

  test('takes the new entries of a batch, and writes them unchanged', async () => {
    const { journal, folder } = await follow()
    const first = journal.take(batchOf(1, ['a', 'b']))
    assert.equal(journal.position, 2)
    assert.deepEqual(
      first.entries.map(({ position, facts }) => [position, facts[0]?.text]),
      [
        [1, 'a'],
        [2, 'b'],
      ],
    )
    await first.written
    assert.equal(journal.committed, 2)
    // What it has already is left out: all of it, and a part of it.
    const known = journal.take(batchOf(1, ['a', 'b']))
    assert.deepEqual(known.entries, [])
    await known.written
    const more = journal.take(batchOf(2, ['b', 'c', 'd']))
    assert.deepEqual(
      more.entries.map(({ position }) => position),
      [3, 4],
    )
    await more.written
    assert.deepEqual(await collect(journal.find(0, '"c"')), [{ position: 3, ...newEntry('c') }])
    const facts: number[] = []
    for await (const entries of journal.replayFacts(1)) for (const { position } of entries) facts.push(position)
    assert.deepEqual(facts, [2, 3, 4])
    await journal.close()
    assert.deepEqual(await texts(folder), ['a', 'b', 'c', 'd'])
  })

  test('refuses a gap, and lines that are not where they belong', async () => {
    const { journal, folder } = await follow()
    assert.throws(() => journal.take(batchOf(2, ['b'])), /the log goes on at position 2, but this daemon is at 0/)
    assert.throws(
      () => journal.take({ ...batchOf(3, ['c', 'd']), first: 1, last: 2 }),
      /the log has position 3 where another one belongs/,
    )
    const [a, , c] = batchOf(1, ['a', 'b', 'c']).lines.split('\n')
    assert.throws(() => journal.take({ first: 1, last: 2, lines: `${a}\n${c}\n` }), /the log has position 3 where/)
    assert.equal(journal.position, 0)
    await journal.close()
    assert.deepEqual(await texts(folder), [])
  })

  test('begins where its file ends', async () => {
    const { journal, folder } = await follow()
    await journal.take(batchOf(1, ['a'])).written
    await journal.close()
    const again = await follow(folder)
    assert.equal(again.journal.position, 1)
    await again.journal.take(batchOf(2, ['b'])).written
    await again.journal.close()
    assert.deepEqual(await texts(folder), ['a', 'b'])
  })
})

describe('ReplicatedJournal: the file below it', () => {
  const full = Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' })

  test('whose disk fails fails the journal', async () => {
    const disk: Disk = { ...countingDisk().disk, write: (_fd, _bytes, _at, done) => setImmediate(done, full, 0) }
    const journal = new ReplicatedJournal<TestFact>(await openFile(newFolder(), { disk }))
    await assert.rejects(journal.take(batchOf(1, ['a'])).written, full)
    assert.equal(journal.failure, full)
    await assert.rejects(collect(journal.replay(0)), full)
    await journal.close()
  })

  test('is synced on demand, up to what it has', async () => {
    const counted = countingDisk()
    const journal = new ReplicatedJournal<TestFact>(await openFile(newFolder(), { disk: counted.disk }))
    await journal.take(batchOf(1, ['a', 'b'])).written
    assert.equal(counted.syncs, 0)
    assert.equal(await journal.sync(), 2)
    assert.equal(counted.syncs, 1)
    await journal.close()
  })

  test('that is gone is noticed', async () => {
    const { journal, folder } = await follow()
    assert.equal(journal.lost(), undefined)
    rmSync(folder, { recursive: true })
    assert.ok(journal.lost() instanceof StoreGone)
    await journal.close()
  })

  test('is closed once, after what was appended is committed', async () => {
    const { journal, batches, folder } = await lead()
    const { durable } = journal.append(newEntry('a'))
    const closed = journal.close()
    assert.equal(journal.close(), closed)
    await closed
    await durable
    assert.equal(batches.length, 1)
    assert.throws(() => journal.append(newEntry('b')), /the journal is closed/)
    assert.deepEqual(await texts(folder), ['a'])
  })

  test('a reader stops where nothing follows, and may begin while the file is sealed and forgotten', async () => {
    const { journal } = await lead()
    assert.deepEqual(await collect(journal.replay(0)), [])
    for (const text of ['a', 'b']) journal.append(newEntry(text))
    const reading = journal.replay(0)
    const first = reading.next()
    await journal.forget(await journal.seal())
    assert.equal((await first).value?.position, 1)
    assert.equal((await reading.next()).value?.position, 2)
    assert.ok((await reading.next()).done)
    await journal.close()
  })

  test('a daemon that cannot go on has an error of its own', () => {
    const { name, message } = new ReplicaFailed('no way')
    assert.deepEqual([name, message], ['ReplicaFailed', 'no way'])
  })
})
