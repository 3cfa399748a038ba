// The format of segments, piece by piece: names, headers, lines and their sums. What is almost right is refused.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { crc32 } from 'node:zlib'
import { JournalDamaged, type NewEntry } from '../../daemon/journal/journal.ts'
import {
  entryLine,
  findSum,
  headerLine,
  isUnfinished,
  parseHeader,
  positionAt,
  sealedLast,
  sealedName,
  unfinishedName,
} from '../../daemon/journal/segment-format.ts'
import { newEntry } from '../support/journal-contract.ts'

describe('names of segments', () => {
  test('a sealed segment carries its last position, with twelve digits or more', () => {
    assert.equal(sealedName(7), 'journal-000000000007.ndjson')
    for (const last of [0, 7, 999_999_999_999, 1_000_000_000_000]) assert.equal(sealedLast(sealedName(last)), last)
  })

  test('no other file is a sealed segment', () => {
    for (const name of [
      'journal.ndjson',
      'journal-7.ndjson',
      'old-journal-000000000007.ndjson',
      'journal-000000000007.ndjson.bak',
      'journal-00000000000x.ndjson',
    ])
      assert.equal(sealedLast(name), undefined, name)
  })

  test('an unfinished segment is recognized, and no other file', () => {
    for (const after of [0, 12]) assert.ok(isUnfinished(unfinishedName(after)))
    for (const name of [
      'my-journal-12.tmp',
      'journal-2024.tmp',
      'journal-000000000012.tmp.bak',
      'journal-x.tmp',
      'journal-.tmp',
      'journal.ndjson',
    ])
      assert.ok(!isUnfinished(name), name)
  })
})

describe('the header of a segment', () => {
  test('gives back the position that was written', () => {
    for (const after of [0, 41]) {
      assert.deepEqual(parseHeader('file', headerLine(after)), { after })
      assert.deepEqual(parseHeader('file', headerLine(after, '0a1b2c3d')), { after, afterSum: '0a1b2c3d' })
    }
  })

  test('is refused with the file and a reason when it is damaged', () => {
    const cases = [
      ['{"natter":"journal","format":1,"after":', /not the header of a journal/],
      ['null', /not the header of a journal/],
      ['{"natter":"diary","format":1,"after":0}', /not the header of a journal/],
      ['{"natter":"journal","format":2,"after":0}', /format 2, this natter reads 1/],
      ['{"natter":"journal","format":1}', /the header names no position/],
      ['{"natter":"journal","format":1,"after":"0"}', /the header names no position/],
      ['{"natter":"journal","format":1,"after":0.5}', /the header names no position/],
    ] as const
    for (const [text, reason] of cases)
      assert.throws(
        () => parseHeader('journal.ndjson', text),
        error => {
          assert.ok(error instanceof JournalDamaged, text)
          assert.equal(error.name, 'JournalDamaged')
          assert.deepEqual([error.file, error.line], ['journal.ndjson', 1])
          assert.match(error.message, reason)
          return true
        },
      )
  })
})

describe('the line of an entry', () => {
  const line = (position: number, text: string) => Buffer.from(entryLine(position, newEntry(text)))
  const found = (bytes: Buffer) => findSum(bytes, 0, bytes.length - 1)

  test('takes no entry that would not be JSON', () => {
    const parts: Partial<Record<keyof NewEntry<unknown>, unknown>>[] = [
      { time: Number.NaN },
      { time: Number.POSITIVE_INFINITY },
      { actor: undefined },
      { actor: Number.NaN },
      { actor: '7' },
      { op: undefined },
      { facts: undefined },
      { facts: {} },
    ]
    for (const part of parts)
      assert.throws(() => entryLine(1, { ...newEntry('a'), ...part } as NewEntry<unknown>), TypeError)
    assert.match(entryLine(1, { ...newEntry('a'), actor: null }), /"actor":null,/)
  })

  test('ends with the checksum of what is before it, in eight digits', () => {
    // Enough entries that some sums begin with a zero.
    for (let n = 1; n < 100; n++) {
      const bytes = line(n, `entry ${n}`)
      const at = found(bytes)
      assert.equal(
        bytes.toString('utf8', at),
        `,"sum":"${crc32(bytes.subarray(0, at)).toString(16).padStart(8, '0')}"}\n`,
      )
    }
  })

  test('does not match its sum when any byte has changed', () => {
    const bytes = line(1, 'ü')
    for (let at = 0; at < bytes.length - 1; at++)
      for (const change of [1, 0x20]) {
        const changed = Buffer.from(bytes)
        changed[at]! ^= change
        assert.equal(found(changed), -1, `byte ${at}`)
      }
  })

  test('has no sum when one character of it is not a hexadecimal digit', () => {
    let tried = 0
    for (let n = 1; tried < 3; n++) {
      const bytes = line(n, 'text')
      const digit = found(bytes) + ',"sum":"'.length
      if (bytes[digit] !== 'f'.charCodeAt(0)) continue
      tried++
      for (const other of ['F', 'g', '/', ':', '\0']) {
        bytes[digit] = other.charCodeAt(0)
        assert.equal(found(bytes), -1, JSON.stringify(other))
      }
    }
  })

  test('has no sum when it is too short to hold one, or holds nothing else', () => {
    const sum = Buffer.from(`,"sum":"${crc32('').toString(16).padStart(8, '0')}"}`)
    assert.equal(findSum(sum, 0, sum.length), -1)
    for (let length = 0; length < sum.length; length++) assert.equal(findSum(sum, 0, length), -1)
    // Bytes before the line are not part of it.
    const before = Buffer.concat([Buffer.from('x'), sum])
    assert.equal(findSum(before, 1, before.length), -1)
  })

  test('says its position without being parsed', () => {
    for (const position of [1, 9, 10, 4711]) assert.equal(positionAt(line(position, 'a'), 0), position)
    const later = Buffer.concat([Buffer.from('xyz'), line(12, 'a')])
    assert.equal(positionAt(later, 3), 12)
  })

  test('has no position where it has another beginning, no digits, zero, or more than digits', () => {
    for (const text of [
      '{"positions":1,',
      ' {"position":1,',
      '{"position":,',
      '{"position":0,',
      '{"positiom":7,',
      '7777777777777,',
      '{"position":-1,',
      '{"position":7.5,',
      // The byte after 9.
      '{"position":1:2,',
      '{"position":',
    ])
      assert.equal(positionAt(Buffer.from(text), 0), -1, text)
  })
})
