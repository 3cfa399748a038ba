// The journal on etcd: the contract of every journal, and what only a shared log must do.

import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { decodeText, Etcd, encodeText, rangeEnd } from '../../daemon/cluster/etcd.ts'
import { Keys } from '../../daemon/cluster/keys.ts'
import { Lease } from '../../daemon/cluster/lease.ts'
import { Deposed, LogTrimmed, SharedLog, type Term } from '../../daemon/cluster/log.ts'
import { Membership } from '../../daemon/cluster/membership.ts'
import { type Batch, ReplicatedJournal } from '../../daemon/journal/replicated-journal.ts'
import { entryLine } from '../../daemon/journal/segment-format.ts'
import { fakeServer } from '../support/cli.ts'
import { type EtcdCluster, startEtcd, withoutEtcd } from '../support/etcd.ts'
import { collect, journalContract, newEntry, type TestFact } from '../support/journal-contract.ts'
import { newFolder, openFile } from '../support/journal-files.ts'

let cluster: EtcdCluster
let etcd: Etcd
let names = 0

const skip = withoutEtcd ?? false

interface Leading {
  readonly journal: ReplicatedJournal<TestFact>
  readonly log: SharedLog
  readonly term: Term
  readonly lease: Lease
  readonly membership: Membership
  readonly keys: Keys
}

/** A journal that leads a cluster of its own, or the one named. */
async function lead(name = `journal-${++names}`, using = etcd, folder = newFolder()): Promise<Leading> {
  const keys = new Keys(name)
  const log = new SharedLog(using, keys)
  const membership = new Membership(etcd, keys)
  await membership.create({ id: name, format: 1, secretVerifier: '' }, 0)
  // So long that the leases of all these journals need not be renewed.
  const lease = await Lease.grant(etcd, 600)
  const election = await membership.campaign({ id: name, url: 'http://127.0.0.1:1', peer: undefined }, lease)
  assert.ok(election, 'somebody else leads')
  const term = { number: election.term, head: election.head, signal: lease.signal }
  const journal = new ReplicatedJournal<TestFact>(await openFile(folder))
  for await (const batch of log.read(journal.position)) await journal.take(batch).written
  journal.lead({ commit: batch => log.commit(term, batch) })
  return { journal, log, term, lease, membership, keys }
}

async function batchesOf(log: SharedLog, after = 0): Promise<Batch[]> {
  const found: Batch[] = []
  for await (const batch of log.read(after)) found.push(batch)
  return found
}

describe('the journal on etcd', { skip }, () => {
  before(async () => {
    cluster = await startEtcd(1)
    etcd = new Etcd({ urls: cluster.urls })
  })
  after(async () => {
    await etcd.close()
    await cluster.stop()
  })

  journalContract('ReplicatedJournal', async () => (await lead()).journal)

  test('entries that are appended during a commit are committed together', async () => {
    const { journal, log } = await lead()
    for (let i = 0; i < 50; i++) journal.append(newEntry(`first ${i}`))
    await journal.append(newEntry('last')).durable
    const batches = await batchesOf(log)
    assert.ok(batches.length < 5, `${batches.length} commits for 51 entries`)
    assert.equal(batches.at(-1)!.last, 51)
    await journal.close()
  })

  test('an entry larger than etcd takes is cut into pieces and comes back whole', async () => {
    const { journal, log } = await lead()
    const long = `${'ü'.repeat(1_300_000)}🦔`
    await journal.append(newEntry(long)).durable
    await journal.append(newEntry('after')).durable
    const copy = new ReplicatedJournal<TestFact>(await openFile(newFolder()))
    for (const batch of await batchesOf(log)) await copy.take(batch).written
    assert.deepEqual(
      (await collect(copy.replay(0))).map(({ facts }) => facts[0]?.text),
      [long, 'after'],
    )
    await journal.close()
    await copy.close()
  })

  test('pieces that a deposed leader never committed are deleted; a late repetition of that leaves those of the new leader', async () => {
    const name = `journal-${++names}`
    const old = await lead(name)
    const long = newEntry('x'.repeat(1_300_000))
    await old.journal.append(long).durable
    // Its pieces are put, and it is deposed before it can commit.
    const isDeposed = { ...old.term, head: { position: 7, term: 7 } }
    await assert.rejects(old.log.commit(isDeposed, { first: 2, last: 2, lines: entryLine(2, long) }), Deposed)
    await old.lease.revoke()
    const { journal, log, term, keys } = await lead(name)
    const found = { ...term }
    const pieces = async () => {
      const range = { key: encodeText(keys.staged), range_end: encodeText(rangeEnd(keys.staged)), keys_only: true }
      const { kvs = [] } = await etcd.call('/v3/kv/range', range)
      return kvs.map(({ key }: { key: string }) => decodeText(key).slice(keys.staged.length))
    }
    const before = await pieces()
    assert.equal(before.length, 4)
    await log.dropStaged(found)
    assert.deepEqual(await pieces(), before.slice(0, 2))
    await journal.append(long).durable
    await journal.append(long).durable
    await log.dropStaged(found)
    assert.equal((await batchesOf(log)).length, 3)
    await old.journal.close()
    await journal.close()
  })

  test('a deposed leader cannot append, even if it has not noticed it', async () => {
    const name = `journal-${++names}`
    const old = await lead(name)
    await old.journal.append(newEntry('kept')).durable
    await old.lease.revoke()
    const renewed = await lead(name)
    assert.equal(renewed.journal.position, 1)
    const late = old.journal.append(newEntry('never'))
    await assert.rejects(late.durable, Deposed)
    await assert.rejects(
      old.log.commit(
        { ...old.term, signal: new AbortController().signal },
        {
          first: 2,
          last: 2,
          lines: '{}\n',
        },
      ),
      Deposed,
    )
    await renewed.journal.append(newEntry('by the new leader')).durable
    assert.deepEqual(
      (await batchesOf(renewed.log)).map(({ first, last }) => [first, last]),
      [
        [1, 1],
        [2, 2],
      ],
    )
    await old.journal.close()
    await renewed.journal.close()
  })

  test('a commit whose answer was lost is settled by the head, and not made twice', async () => {
    const proxy = await losingProxy(cluster.urls[0]!)
    const through = new Etcd({ urls: [proxy.url], attemptMs: 300 })
    const { journal, log } = await lead(undefined, through)
    await journal.append(newEntry('a')).durable
    proxy.loseNext('/v3/kv/txn')
    await journal.append(newEntry('b')).durable
    await journal.append(newEntry('c')).durable
    assert.equal(proxy.lost(), 1)
    const batches = await batchesOf(log)
    assert.deepEqual(
      batches.map(({ first, last }) => [first, last]),
      [
        [1, 1],
        [2, 2],
        [3, 3],
      ],
    )
    await journal.close()
    await through.close()
    proxy.close()
  })

  test('batches are read one by one if many at once take too long', async t => {
    const { journal, log, keys } = await lead()
    for (let i = 0; i < 3; i++) await journal.append(newEntry(`entry ${i}`)).durable
    const url = await fakeServer(t, async (request, response, body) => {
      if (JSON.parse(body).limit > 1) return
      const answer = await fetch(cluster.urls[0] + request.url!, { method: 'POST', body })
      response.end(await answer.text())
    })
    const slow = new Etcd({ urls: [url] })
    t.after(() => slow.close())
    assert.deepEqual(await batchesOf(new SharedLog(slow, keys)), await batchesOf(log))
    await journal.close()
  })

  test('trimmed batches are gone from etcd, and a reader that needs them gets an error', async () => {
    const { journal, log, term } = await lead()
    for (const text of ['a', 'b', 'c', 'd']) await journal.append(newEntry(text)).durable
    await log.trim(term, 2)
    await assert.rejects(batchesOf(log, 0), LogTrimmed)
    assert.deepEqual(
      (await batchesOf(log, 2)).map(({ first }) => first),
      [3, 4],
    )
    await journal.close()
  })

  test('a follower whose file was cut in the middle of a batch goes on from there', async () => {
    const { journal, log } = await lead()
    for (const text of ['a', 'b', 'c', 'd']) journal.append(newEntry(text))
    await journal.append(newEntry('e')).durable
    const [batch] = await batchesOf(log)
    const copy = new ReplicatedJournal<TestFact>(await openFile(newFolder()))
    const lines = batch!.lines.split('\n')
    await copy.take({ first: 1, last: 2, lines: `${lines[0]}\n${lines[1]}\n` }).written
    for (const found of await batchesOf(log, 2)) await copy.take(found).written
    assert.deepEqual(
      (await collect(copy.replay(0))).map(({ facts }) => facts[0]?.text),
      ['a', 'b', 'c', 'd', 'e'],
    )
    await journal.close()
    await copy.close()
  })

  test('a watcher sees every batch once, in order', async () => {
    const { journal, log } = await lead()
    const seen: number[] = []
    const ending = new AbortController()
    const batches = log.read(0)
    const { value: revision } = await batches.next()
    const watching = (async () => {
      for await (const { first, last } of log.watch(revision as number, ending.signal)) {
        for (let position = first; position <= last; position++) seen.push(position)
        if (seen.length === 20) return
      }
    })()
    for (let i = 0; i < 20; i++) await journal.append(newEntry(String(i))).durable
    await watching
    ending.abort()
    assert.deepEqual(
      seen,
      Array.from({ length: 20 }, (_, index) => index + 1),
    )
    await journal.close()
  })
})

/** A proxy before etcd that passes calls on and drops some of the answers. */
async function losingProxy(target: string): Promise<{
  url: string
  loseNext(path: string): void
  lost(): number
  close(): void
}> {
  let losing: string | undefined
  let lost = 0
  const server: Server = createServer(async (request, response) => {
    const body: Buffer[] = []
    for await (const piece of request) body.push(piece)
    const answer = await fetch(`${target}${request.url}`, { method: 'POST', body: Buffer.concat(body) })
    const text = await answer.text()
    if (request.url === losing) {
      losing = undefined
      lost++
      return
    }
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(text)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    loseNext(path) {
      losing = path
    },
    lost: () => lost,
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
