// A journal whose last write was cut off, at every byte of its last entries: the real journal finds every entry that is whole, and
// nothing else.

import assert from 'node:assert/strict'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { forgetCleanStop } from '../../../daemon/journal/clean-stop.ts'
import { activeName, headerLine, roomByte } from '../../../daemon/journal/segment-format.ts'
import { launch } from '../../support/daemon.ts'
import { openFile } from '../../support/journal-files.ts'

/** Entries at the end that are cut, as long as they are short. */
const entries = 3
const mostBytes = 1500
/** Every so many bytes something follows the cut. */
const fillEvery = 7
/** Bytes of a hole. */
const holeSize = 16

/** The number of cuts. */
export async function cutEverywhere(data: string): Promise<number> {
  const lines = wholeLines(data)
  const last: string[] = []
  for (let size = 0; lines.length > 0 && last.length < entries; ) {
    size += lines.at(-1)!.length
    if (last.length > 0 && size > mostBytes) break
    last.unshift(lines.pop()!)
  }
  if (last.length === 0) return 0
  const positions = last.map(line => Number(/^\{"position":(\d+)/.exec(line)![1]))
  const header = headerLine(positions[0]! - 1)
  const whole = Buffer.from(header + last.join(''))
  const folder = mkdtempSync(join(tmpdir(), 'natter-cuts-'))
  let cuts = 0
  try {
    for (let size = whole.length; size >= header.length; size--) {
      for (const rest of size % fillEvery === 0 ? restsOf(whole.subarray(size)) : [Buffer.alloc(0)]) {
        writeFileSync(join(folder, activeName), Buffer.concat([whole.subarray(0, size), rest]))
        const isWhole = (index: number) => Buffer.byteLength(header + last.slice(0, index + 1).join('')) <= size
        const expected = positions.filter((_, index) => isWhole(index))
        assert.deepEqual(await positionsIn(folder, positions[0]! - 1), expected, `cut after ${size} bytes of\n${whole}`)
        cuts++
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  return cuts
}

/** What can be in the place of bytes that were not written: nothing, zeros, the room for them, or this room and some that were written. */
function restsOf(lost: Buffer): Buffer[] {
  const room = Buffer.alloc(lost.length, roomByte)
  const hole = Buffer.concat([room.subarray(0, holeSize), lost.subarray(holeSize)])
  return [Buffer.alloc(0), Buffer.alloc(lost.length), room, hole]
}

/** The same with a daemon: a copy of the store, cut anywhere in its last entry, starts and stops. */
export async function startCut(data: string, random: () => number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'natter-cut-'))
  const copy = join(folder, 'data')
  mkdirSync(copy)
  try {
    cpSync(data, copy, { recursive: true })
    forgetCleanStop(copy)
    const last = wholeLines(copy).at(-1)
    const file = join(copy, activeName)
    if (last !== undefined)
      truncateSync(file, readFileSync(file).lastIndexOf('\n') - Math.floor(random() * (last.length - 1)))
    const daemon = await launch(copy)
    await daemon.stop()
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function positionsIn(folder: string, after: number): Promise<number[]> {
  const journal = await openFile(folder)
  const positions: number[] = []
  try {
    for await (const { position } of journal.replay(after)) positions.push(position)
  } finally {
    await journal.close()
  }
  return positions
}

/**
 * Entries of the active segment, with their newlines. A kill can leave the last one unfinished, or come before a compaction has made a new
 * segment.
 */
function wholeLines(data: string): string[] {
  const file = join(data, activeName)
  if (!existsSync(file)) return []
  const text = readFileSync(file, 'utf8')
  return text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split(/(?<=\n)/)
    .slice(1)
}
