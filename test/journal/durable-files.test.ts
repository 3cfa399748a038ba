// Writing all of something: the system may take less than it was given, and it may take nothing.

import assert from 'node:assert/strict'
import fs, { closeSync, openSync, readFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { realDisk, writeWhole, writeWholeSync } from '../../daemon/journal/durable-files.ts'
import { newFolder } from '../support/journal-files.ts'

/** Runs the work on a new file while `writeSync` takes at most so many bytes; returns what the file holds. */
function limited(most: number, work: (fd: number) => void): string {
  const path = join(newFolder(), 'file')
  const real = fs.writeSync
  const fd = openSync(path, 'w')
  const writeSync = (fd: number, bytes: Uint8Array, from: number) =>
    most === 0 ? 0 : real(fd, bytes, from, Math.min(most, bytes.length - from))
  Object.assign(fs, { writeSync })
  syncBuiltinESMExports()
  try {
    work(fd)
  } finally {
    Object.assign(fs, { writeSync: real })
    syncBuiltinESMExports()
    closeSync(fd)
  }
  return readFileSync(path, 'utf8')
}

describe('writeWholeSync', () => {
  test('writes everything, however little is taken at once', () => {
    for (const most of [1, 3, 7, 100])
      assert.equal(
        limited(most, fd => writeWholeSync(fd, Buffer.from('seven b'))),
        'seven b',
      )
    assert.equal(
      limited(1, fd => writeWholeSync(fd, Buffer.alloc(0))),
      '',
    )
  })

  test('gives up on a disk that takes nothing', () => {
    limited(0, fd => assert.throws(() => writeWholeSync(fd, Buffer.from('a')), /the disk took no bytes/))
  })
})

describe('writeWhole', () => {
  test('gives up on a disk that takes nothing', async () => {
    let calls = 0
    const disk = {
      ...realDisk,
      write(_fd: number, _bytes: Uint8Array, _from: number, done: (error: Error | null, written: number) => void) {
        assert.ok(++calls < 5, 'it goes on')
        setImmediate(done, null, 0)
      },
    }
    await assert.rejects(writeWhole(1, Buffer.from('a'), disk), /the disk took no bytes/)
    assert.equal(calls, 1)
  })
})
