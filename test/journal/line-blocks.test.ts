// Reading a file in blocks of whole lines, however the system hands it over.

import assert from 'node:assert/strict'
import { closeSync, openSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { lineBlocks } from '../../daemon/journal/line-blocks.ts'
import { newFolder } from '../support/journal-files.ts'
import { limitReads } from '../support/watched-disk.ts'

async function blocksOf(text: string, { size = text.length, most = 1000 } = {}): Promise<string[]> {
  const file = join(newFolder(), 'lines')
  writeFileSync(file, text)
  const fd = openSync(file, 'r')
  const blocks: string[] = []
  try {
    await limitReads(most, async () => {
      for await (const block of lineBlocks(fd, size)) blocks.push(block.toString())
    })
  } finally {
    closeSync(fd)
  }
  return blocks
}

describe('lineBlocks', () => {
  const text = 'one\ntwo\n\na line that is longer than the others\nthe end'

  test('gives whole lines, and at the end what has no newline', async () => {
    for (const most of [1, 2, 3, 5, 8, 13, 1000]) {
      const blocks = await blocksOf(text, { most })
      assert.equal(blocks.join(''), text)
      assert.ok(blocks.every(block => block !== ''))
      assert.ok(blocks.slice(0, -1).every(block => block.endsWith('\n')))
    }
    assert.deepEqual(await blocksOf(text), [text.slice(0, -7), 'the end'])
    assert.deepEqual(await blocksOf('one\n'), ['one\n'])
    assert.deepEqual(await blocksOf(''), [])
  })

  test('reads no further than it was asked to, also where the file has grown', async () => {
    for (const most of [1, 3, 5, 1000])
      for (const size of [0, 2, 4, 6, 20])
        assert.equal((await blocksOf(text, { size, most })).join(''), text.slice(0, size))
  })

  test('ends where the file does, also where more was expected', async () => {
    assert.equal((await blocksOf(text, { size: text.length + 10 })).join(''), text)
  })
})
