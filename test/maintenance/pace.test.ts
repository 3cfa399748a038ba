// The pace of a backup: as fast as it can, unless the daemon writes to the journal.

import assert from 'node:assert/strict'
import { mkdtempSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { Pace } from '../../daemon/maintenance/pace.ts'

const megabyte = 1_000_000
const msPerMegabyte = 50

describe('the pace of a backup', () => {
  let now = 0
  let writes = 0
  let folder: string
  let journal: string
  let pace: Pace

  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'natter-pace-'))
    journal = join(folder, 'journal.ndjson')
    writeFileSync(journal, 'header\n')
    now = 1000
    const sleep = async (ms: number) => {
      now += ms
    }
    pace = new Pace(folder, { now: () => now, sleep })
  })

  /** How long copying so many megabytes waits, with something done before each. */
  async function wait(megabytes: number, before: () => void): Promise<number> {
    const began = now
    for (let i = 0; i < megabytes; i++) {
      before()
      await pace.keep(megabyte)
    }
    return now - began
  }

  /** The clock of a file system is too coarse for writes that follow each other at once. */
  const write = () => utimesSync(journal, ++writes, writes)
  const nothing = () => {}

  test('no one writes: no wait', async () => {
    assert.equal(await wait(100, nothing), 0)
  })

  test('someone writes: 20 MB a second', async () => {
    // The first one need not wait for another.
    assert.equal(await wait(101, write), 100 * msPerMegabyte)
  })

  test('the writes end: the waits end', async () => {
    await wait(10, write)
    assert.equal(await wait(100, nothing), 0)
    now += 1000
    assert.equal(await wait(3, write), 2 * msPerMegabyte, 'they begin again')
  })

  test('time that the copy itself takes is not waited for again', async () => {
    const slowly = () => {
      write()
      now += 2 * msPerMegabyte
    }
    assert.equal(await wait(10, slowly), 10 * 2 * msPerMegabyte)
  })

  test('a compaction is a write', async () => {
    await wait(1, nothing)
    renameSync(journal, join(folder, 'journal-000000000001.ndjson'))
    writeFileSync(journal, '')
    write()
    assert.equal(await wait(2, nothing), msPerMegabyte)
  })

  test('a folder without a journal: no wait', async () => {
    rmSync(journal)
    const bare = new Pace(folder, { now: () => now, sleep: () => assert.fail('it waited') })
    await bare.keep(megabyte)
    await bare.keep(megabyte)
  })
})
