// The store of messages: packed, indexed, and the same after any way of saving it.

import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import {
  IdList,
  IdSet,
  type Message,
  MessageStore,
  packRuns,
  unpackRuns,
} from '../../../daemon/domain/model/message-store/index.ts'
import { segmentSize } from '../../../daemon/domain/model/message-store/segment.ts'
import { WordIndex } from '../../../daemon/domain/model/message-store/word-index.ts'
import { openSnapshots, stateFormat } from '../../../daemon/journal/snapshots.ts'
import { cases } from '../../support/cases.ts'
import { processorTime } from '../../support/processor-time.ts'

const ids = fc.array(fc.integer({ min: 1, max: 20_000 }))
const sorted = (values: Iterable<number>) => [...new Set(values)].sort((a, b) => a - b)

describe('a list of message IDs', () => {
  test('holds what was added and not removed, ascending', () => {
    fc.assert(
      fc.property(ids, ids, ids, (first, more, gone) => {
        const list = new IdList()
        for (const id of first) list.add(id)
        list.addAll(sorted(more))
        list.removeAll(sorted(gone))
        assert.deepEqual(
          list.slice(),
          sorted([...first, ...more]).filter(id => !gone.includes(id)),
        )
      }),
      { numRuns: cases(30) },
    )
  })
})

describe('a set of message IDs', () => {
  test('answers as a set does, from any point in both directions', () => {
    const runs = fc.array(fc.tuple(fc.integer({ min: 1, max: 40_000 }), fc.integer({ min: 0, max: 9000 })), {
      maxLength: 6,
    })
    fc.assert(
      fc.property(runs, ids, ids, (spans, singles, gone) => {
        const set = new IdSet()
        const plain = new Set<number>()
        for (const [from, length] of spans) {
          set.addRuns([from, from + length])
          for (let id = from; id <= from + length; id++) plain.add(id)
        }
        for (const id of singles) plain.add(id) && set.add(id)
        set.deleteRuns(packRuns(sorted(gone)))
        for (const id of gone) plain.delete(id)
        const members = sorted(plain)
        assert.equal(set.size, plain.size)
        assert.deepEqual(unpackRuns(set.runs()), members)
        assert.deepEqual(set.runs(), packRuns(members))
        for (const at of [1, 5, 8191, 8192, 20_000, 33_333, 60_000]) {
          assert.equal(set.atMost(at), members.findLast(id => id <= at) ?? 0)
          assert.equal(set.atLeast(at), members.find(id => id >= at) ?? Number.POSITIVE_INFINITY)
          let absent = at
          while (absent > 0 && plain.has(absent)) absent--
          assert.equal(set.absentAtMost(at), absent)
        }
      }),
      { numRuns: cases(20) },
    )
  })
})

test('runs of message IDs take time by the word, not by the ID, as rows of a file can have a million of them in a few bytes', async () => {
  const runs = Array.from({ length: 20_000 }, (_, block) => [block * 8192 + 1, block * 8192 + 8190]).flat()
  const took = await processorTime(() => {
    const set = new IdSet()
    set.addRuns(runs)
    assert.deepEqual(set.runs(), runs)
    set.deleteRuns(runs)
    assert.equal(set.size, 0)
  })
  // One by one, they took about seven seconds.
  assert.ok(took < 2000, `${took} ms`)
})

describe('the words of a segment', () => {
  test('are found in every message that has them', () => {
    const postings = fc.array(fc.tuple(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 0, max: 600 })), {
      maxLength: 3000,
    })
    fc.assert(
      fc.property(postings, pairs => {
        const index = new WordIndex()
        const plain = new Map<number, Set<number>>()
        for (const [hash, local] of pairs) {
          index.add(hash * 7919, local)
          plain.set(hash, (plain.get(hash) ?? new Set()).add(local))
        }
        for (const copy of [index, new WordIndex(index.arrays)])
          for (let hash = 1; hash <= 41; hash++)
            assert.deepEqual([...copy.find(hash * 7919)], sorted(plain.get(hash) ?? []))
      }),
      { numRuns: cases(20) },
    )
  })

  test('are refused from a file in which a search would never end, or takes all memory', () => {
    const index = new WordIndex()
    for (let hash = 1; hash <= 30; hash++) index.add(hash, hash)
    const { arrays } = index
    const wrong = [
      { ...arrays, hashes: arrays.hashes.map((_, slot) => slot + 1000) },
      { ...arrays, hashes: new Uint32Array(0) },
      { ...arrays, hashes: new Uint32Array(65) },
      { ...arrays, counts: arrays.counts.map(() => 2 ** 32 - 1) },
      { ...arrays, lasts: new Uint16Array(1) },
    ]
    for (const damaged of wrong) assert.throws(() => new WordIndex(damaged), /the index of words is damaged/)
  })
})

function message(id: number): Message {
  return {
    id,
    senderId: 1 + (id % 7),
    ...(id % 5 === 0 ? { conversationId: 1 + (id % 3) } : { channelId: 1 + (id % 2), topic: `Topic ${id % 4}` }),
    time: 1_700_000_000 + id,
    client: `client ${id % 3}`,
    content: `message number ${id} with grüße and 🎈`,
    html: id % 2 === 0 ? `<p>message number ${id} with grüße and 🎈</p>` : `<p><b>${id}</b></p>`,
    marks: id % 3 === 0 ? 1 : 0,
    ...(id % 10 === 0 && { details: { mentioned: [id % 7] } }),
  }
}

function all(store: MessageStore): Message[] {
  const found: Message[] = []
  for (let id = 1; id <= store.lastId; id++) if (store.has(id)) found.push(store.get(id)!)
  return found
}

function withWords(store: MessageStore, text: string): number[] {
  return store.withWords(text)!.parts.flatMap(part => part.ids().slice())
}

describe('a store that has sealed segments', () => {
  const count = segmentSize * 2 + 100
  const folder = mkdtempSync(join(tmpdir(), 'natter-segments-'))
  const snapshots = openSnapshots(folder)
  const store = new MessageStore()

  const save = async () => {
    const files = store.files(0)
    const sections = { messages: store.save() }
    // What happens while it is written must not get into it.
    const writing = snapshots.write({ format: stateFormat, position: 1, time: 1, sections, files })
    const expected = all(store)
    store.edit(3, 'changed meanwhile', '<p>changed meanwhile</p>', 0, {})
    await writing
    return expected
  }
  const load = async () => {
    const reader = openSnapshots(folder)
    const document = (await reader.read())!
    const loaded = new MessageStore()
    loaded.load(document.sections.messages!, name => reader.file(name))
    return loaded
  }

  test('is read from a snapshot unchanged', async () => {
    for (let id = 1; id <= count; id++) store.add(message(id))
    const expected = await save()
    const loaded = await load()
    assert.deepEqual(all(loaded), expected)
    assert.equal(loaded.count, count)
    assert.deepEqual(loaded.inTopic(1, 'TOPIC 2').slice(), store.inTopic(1, 'Topic 2').slice())
    assert.deepEqual(withWords(loaded, 'number 20007'), [20_007])
    assert.equal(withWords(loaded, 'grüße').length, count)
    assert.deepEqual(readdirSync(join(folder, 'messages')), ['000000.1.segment', '000001.1.segment'])
  })

  test('keeps what changed since a segment was written beside its file', async () => {
    store.setDetails(10, { reactions: [{ type: 'unicode_emoji', code: '1f44d', name: '+1', userId: 3 }] })
    store.move([11, 12], 9, 'elsewhere', () => ({ sentTo: 2 }))
    store.remove([20, 30, 20_000])
    const expected = await save()
    const loaded = await load()
    assert.deepEqual(all(loaded), expected)
    assert.deepEqual(loaded.inTopic(9, 'elsewhere').slice(), [11, 12])
    assert.equal(loaded.has(30), false)
    assert.deepEqual([...loaded.save()].slice(1), [...loaded.save()].slice(1))
    assert.deepEqual(readdirSync(join(folder, 'messages')), ['000000.1.segment', '000001.1.segment'])
  })

  test('writes a segment again once much of it has changed', async () => {
    for (let id = 1; id <= segmentSize / 4; id++) if (store.has(id)) store.setDetails(id, { sentTo: 1 })
    const expected = await save()
    assert.deepEqual(readdirSync(join(folder, 'messages')), ['000000.2.segment', '000001.1.segment'])
    assert.deepEqual(all(await load()), expected)
  })

  test('writes large histories in pieces, because together they may be longer than a string can be', async () => {
    const prevHtml = 'ä'.repeat(200_000)
    for (let id = 1; id <= segmentSize / 4; id++)
      if (store.has(id)) store.setDetails(id, { edits: [{ userId: 1, time: id, ...(id < 20 && { prevHtml }) }] })
    const [rewritten] = store.files(0)
    const sizes = [...rewritten!.pieces!()].map(piece => piece.length)
    assert.ok(Math.max(...sizes) < 2_000_000, `a piece has ${Math.max(...sizes)} bytes`)
    const expected = await save()
    assert.deepEqual(all(await load()), expected)
  })

  test('is refused when a file is damaged or missing, by name', async () => {
    const path = join(folder, 'messages', '000001.1.segment')
    writeFileSync(path, 'x', { flag: 'a' })
    await assert.rejects(load, /000001\.1\.segment.*bytes were written/)
    rmSync(path)
    await assert.rejects(load, /000001\.1\.segment.*ENOENT/)
    rmSync(folder, { recursive: true })
  })
})

describe('a message ID beyond 32 bits', () => {
  test('is no message, though its low bits are those of one', () => {
    const messages = new MessageStore()
    messages.add({
      id: 5,
      senderId: 1,
      channelId: 3,
      topic: 't',
      time: 1,
      client: 'c',
      content: 'x',
      html: '<p>x</p>',
      marks: 0,
    })
    assert.deepEqual([messages.has(5), messages.channelOf(5), messages.get(5)?.id], [true, 3, 5])
    const far = 2 ** 32 + 5
    assert.deepEqual([messages.has(far), messages.channelOf(far), messages.get(far)], [false, -1, undefined])
  })
})
