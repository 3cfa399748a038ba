// The contract of every journal. Run by test/journal/journal.test.ts against each of them.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { type Entry, type Journal, JournalDamaged, type NewEntry } from '../../daemon/journal/journal.ts'

export interface TestFact {
  readonly type: string
  readonly text?: string
  readonly count?: number
}

export function newEntry(text: string, time = 1_700_000_000_000): NewEntry<TestFact> {
  return { time, actor: 7, op: 'send-message', facts: [{ type: 'message.sent', text }] }
}

export async function collect<Fact>(entries: AsyncIterable<Entry<Fact>>): Promise<Entry<Fact>[]> {
  const all: Entry<Fact>[] = []
  for await (const entry of entries) all.push(entry)
  return all
}

export function journalContract(name: string, open: () => Promise<Journal<TestFact>>): void {
  describe(`${name}: the contract of a journal`, () => {
    test('an empty journal is at position 0 and replays nothing', async () => {
      const journal = await open()
      assert.equal(journal.position, 0)
      assert.equal(journal.failure, undefined)
      assert.deepEqual(await collect(journal.replay(0)), [])
      await journal.close()
    })

    test('positions count from 1 without gaps, and the position is known before the entry is durable', async () => {
      const journal = await open()
      const appended = [journal.append(newEntry('a')), journal.append(newEntry('b')), journal.append(newEntry('c'))]
      assert.deepEqual(
        appended.map(({ position }) => position),
        [1, 2, 3],
      )
      assert.equal(journal.position, 3)
      await Promise.all(appended.map(({ durable }) => durable))
      await journal.close()
    })

    test('replay gives back what was appended, from any position, also what is still on its way', async () => {
      const journal = await open()
      const texts = [
        'plain',
        'ünïcödé 🦔',
        'line\nbreak \u2028 "quoted" \\ \0',
        '\ud800 alone',
        '',
        ',"sum":"00000000"}',
      ]
      for (const text of texts) journal.append(newEntry(text))
      journal.append({ time: 1.5, actor: null, op: 'start', facts: [] })
      const all = await collect(journal.replay(0))
      assert.deepEqual(all, [
        ...texts.map((text, index) => ({ position: index + 1, ...newEntry(text) })),
        { position: texts.length + 1, time: 1.5, actor: null, op: 'start', facts: [] },
      ])
      for (let after = 0; after <= all.length; after++) {
        assert.deepEqual(await collect(journal.replay(after)), all.slice(after))
        const facts: [number, readonly TestFact[]][] = []
        for await (const entries of journal.replayFacts(after))
          for (const entry of entries) facts.push([entry.position, entry.facts])
        assert.deepEqual(
          facts,
          all.slice(after).map(entry => [entry.position, entry.facts]),
        )
      }
      await journal.close()
    })

    test('replay after a position the journal never reached is refused', async () => {
      const journal = await open()
      await journal.append(newEntry('a')).durable
      await assert.rejects(collect(journal.replay(2)), JournalDamaged)
      await journal.close()
    })

    test('find gives the entries after a position whose line holds a text, and no others', async () => {
      const journal = await open()
      for (const text of ['a needle', 'hay', '"needle"', 'nee\ndle', 'needle needle', 'hay'])
        journal.append(newEntry(text))
      const found = async (after: number, text: string) =>
        (await collect(journal.find(after, text))).map(({ position }) => position)
      assert.deepEqual(await found(0, 'needle'), [1, 3, 5])
      assert.deepEqual(await found(1, 'needle'), [3, 5])
      assert.deepEqual(await found(0, '"text":"hay"'), [2, 6])
      assert.deepEqual(await found(0, 'nothing'), [])
      assert.deepEqual(await collect(journal.find(4, 'needle')), [{ position: 5, ...newEntry('needle needle') }])
      await journal.seal()
      journal.append(newEntry('late needle'))
      assert.deepEqual(await found(4, 'needle'), [5, 7])
      await journal.close()
    })

    test('what is changed after the append does not change the journal', async () => {
      const journal = await open()
      const fact = { type: 'message.sent', text: 'as it was' }
      journal.append({ ...newEntry(''), facts: [fact] })
      fact.text = 'changed'
      const [entry] = await collect(journal.replay(0))
      assert.equal(entry?.facts[0]?.text, 'as it was')
      await journal.close()
    })

    test('an append that cannot be written as JSON throws and changes nothing', async () => {
      const journal = await open()
      const circle: Record<string, unknown> = {}
      circle.self = circle
      const bad = [{ facts: [1n] }, { facts: [circle] }, { facts: undefined }, { time: Number.NaN }, { op: undefined }]
      for (const part of bad)
        assert.throws(() => journal.append({ ...newEntry('a'), ...part } as unknown as NewEntry<TestFact>), TypeError)
      assert.equal(journal.position, 0)
      await journal.append(newEntry('good')).durable
      assert.equal((await collect(journal.replay(0))).length, 1)
      await journal.close()
    })

    test('seal returns the position at the call, however much is appended meanwhile', async () => {
      const journal = await open()
      journal.append(newEntry('a'))
      const sealed = journal.seal()
      journal.append(newEntry('b'))
      assert.equal(await sealed, 1)
      assert.equal(await journal.seal(), 2)
      assert.equal(await journal.seal(), 2)
      assert.equal((await collect(journal.replay(0))).length, 2)
      await journal.close()
    })

    test('forget drops only what is sealed, and replay from before it is refused', async () => {
      const journal = await open()
      for (const text of ['a', 'b', 'c']) journal.append(newEntry(text))
      await journal.forget(3)
      assert.equal((await collect(journal.replay(0))).length, 3)
      await journal.seal()
      journal.append(newEntry('d'))
      await journal.forget(2)
      assert.equal((await collect(journal.replay(0))).length, 4)
      await journal.forget(3)
      await assert.rejects(collect(journal.replay(0)), JournalDamaged)
      await journal.forget(4)
      assert.deepEqual(
        (await collect(journal.replay(3))).map(({ position }) => position),
        [4],
      )
      await assert.rejects(collect(journal.replay(0)), JournalDamaged)
      await journal.close()
    })

    test('after close nothing is taken, and a second close is harmless', async () => {
      const journal = await open()
      const last = journal.append(newEntry('a'))
      await journal.close()
      await last.durable
      await journal.close()
      assert.throws(() => journal.append(newEntry('b')), /closed/)
    })

    test('any mixture of appends, seals, forgets and replays agrees with a list', async () => {
      const step = fc.oneof(
        { weight: 6, arbitrary: fc.record({ kind: fc.constant('append' as const), texts: fc.array(fc.string()) }) },
        { weight: 2, arbitrary: fc.record({ kind: fc.constant('seal' as const), wait: fc.boolean() }) },
        { weight: 2, arbitrary: fc.record({ kind: fc.constant('forget' as const) }) },
        { weight: 2, arbitrary: fc.record({ kind: fc.constant('replay' as const), back: fc.nat(10) }) },
      )
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 20 }), async steps => {
          const journal = await open()
          const model: string[] = []
          let sealed = 0
          let forgotten = 0
          const waiting: Promise<unknown>[] = []
          for (const now of steps) {
            if (now.kind === 'append')
              for (const text of now.texts) {
                model.push(text)
                waiting.push(journal.append(newEntry(text)).durable)
              }
            if (now.kind === 'seal') {
              const seal = journal.seal().then(position => {
                sealed = Math.max(sealed, position)
              })
              if (now.wait) await seal
              else waiting.push(seal)
            }
            if (now.kind === 'forget') {
              forgotten = sealed
              waiting.push(journal.forget(sealed))
            }
            if (now.kind === 'replay') {
              const after = Math.min(model.length, forgotten + now.back)
              const newest = model.length
              waiting.push(
                collect(journal.replay(after)).then(entries =>
                  assert.deepEqual(
                    entries.map(({ position, facts }) => [position, facts[0]?.text]),
                    model.slice(after, newest).map((text, index) => [after + index + 1, text]),
                  ),
                ),
              )
            }
          }
          await Promise.all(waiting)
          const rest = await collect(journal.replay(forgotten))
          assert.deepEqual(
            rest.map(({ facts }) => facts[0]?.text),
            model.slice(forgotten),
          )
          await journal.close()
        }),
        { numRuns: 60 },
      )
    })
  })
}
