// Writing all of something: the system may take less than it was given, and it may take nothing.

import assert from 'node:assert/strict'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { type Disk, realDisk, writeWhole } from '../../daemon/local/durable-files.ts'
import { newFolder } from '../support/journal-files.ts'

/** What a new file holds after `text` was written to it on a disk that takes at most so many bytes at once. */
async function written(text: string, most: number): Promise<string> {
  const path = join(newFolder(), 'file')
  const fd = openSync(path, 'w')
  const disk: Disk = {
    ...realDisk,
    write: (fd, bytes, at, done) => realDisk.write(fd, bytes.subarray(0, most), at, done),
  }
  await writeWhole(fd, Buffer.from(text), disk)
  closeSync(fd)
  return readFileSync(path, 'utf8')
}

describe('writeWhole', () => {
  test('writes everything, however little is taken at once', async () => {
    for (const most of [1, 3, 7, 100]) assert.equal(await written('seven b', most), 'seven b')
  })

  test('gives up on a disk that takes nothing', async () => {
    let calls = 0
    const disk = {
      ...realDisk,
      write(_fd: number, _bytes: Uint8Array, _at: number | null, done: (error: Error | null, written: number) => void) {
        assert.ok(++calls < 5, 'it goes on')
        setImmediate(done, null, 0)
      },
    }
    await assert.rejects(writeWhole(1, Buffer.from('a'), disk), /the disk took no bytes/)
    assert.equal(calls, 1)
  })
})
