// The snapshot of another daemon: a store in the folder stays as long as not all of the snapshot is there.

import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { fetchSnapshot } from '../../daemon/cluster/fetch-snapshot.ts'
import { readIdentity, tidyFolder, writeIdentity } from '../../daemon/cluster/folder.ts'
import { Peers } from '../../daemon/cluster/peers.ts'
import { readConfig } from '../../daemon/start/config.ts'
import { fakeServer, json } from '../support/cli.ts'

const identity = { cluster: 'c', name: 'natter', member: 'm' }

/** Fetches from a daemon that gives this state and has no other files. */
async function refusedFetch(t: TestContext, state: object, reason: RegExp): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'natter-fetch-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, 'journal.ndjson'), 'what was there\n')
  const url = await fakeServer(t, (request, response) => {
    if (request.url!.endsWith('/state.json')) json(response, state)
    else if (request.url!.includes('/store/')) json(response, {}, 404)
    else json(response, { position: 7 })
  })
  const peers = new Peers('token')
  t.after(() => peers.close())
  await assert.rejects(
    fetchSnapshot(peers, async () => [url], folder, identity, 7, 1),
    reason,
  )
  assert.equal(readFileSync(join(folder, 'journal.ndjson'), 'utf8'), 'what was there\n')
  assert.ok(!readdirSync(folder).includes('cluster.json'), 'the folder is marked as incomplete')
}

describe('what a fetch that was interrupted has left', () => {
  test('is deleted at the next start', async t => {
    const folder = mkdtempSync(join(tmpdir(), 'natter-fetch-'))
    t.after(() => rmSync(folder, { recursive: true, force: true }))
    for (const name of ['journal.ndjson', 'state.json.fetched']) writeFileSync(join(folder, name), 'x')
    mkdirSync(join(folder, 'messages.fetched'))
    writeFileSync(join(folder, 'messages.fetched', '000000.segment'), 'x')
    writeIdentity(folder, identity)
    const config = readConfig(['--data', folder, '--cluster', 'http://127.0.0.1:1', '--secret', 'x'.repeat(32)], {})
    await tidyFolder(config, undefined)
    assert.deepEqual(readdirSync(folder).sort(), ['cluster.json', 'journal.ndjson'])
  })

  const store = ['journal.ndjson', 'state.json', 'messages/old.segment']
  const [state, segment] = ['state.json.fetched', 'messages.fetched/new.segment']
  const interruptions: [when: string, files: string[]][] = [
    ['before anything was deleted', [...store, state, segment]],
    ['while the store was deleted', ['journal.ndjson', state, segment]],
    ['between the two parts', ['state.json', segment]],
    ['after both', ['state.json', 'messages/new.segment']],
  ]
  for (const [when, files] of interruptions)
    test(`takes the place of the store at the next start, if all of it is there (${when})`, async t => {
      const folder = mkdtempSync(join(tmpdir(), 'natter-fetch-'))
      t.after(() => rmSync(folder, { recursive: true, force: true }))
      for (const name of files) {
        mkdirSync(dirname(join(folder, name)), { recursive: true })
        writeFileSync(join(folder, name), store.includes(name) && files.includes(state) ? 'old' : 'new')
      }
      writeIdentity(folder, { ...identity, joining: true })
      const config = readConfig(['--data', folder, '--cluster', 'http://127.0.0.1:1', '--secret', 'x'.repeat(32)], {})
      await tidyFolder(config, undefined)
      assert.deepEqual(readdirSync(folder).sort(), ['cluster.json', 'messages', 'state.json'])
      assert.deepEqual(readdirSync(join(folder, 'messages')), ['new.segment'])
      assert.equal(readFileSync(join(folder, 'state.json'), 'utf8'), 'new')
      assert.deepEqual(readIdentity(folder), identity)
    })
})

describe('a store stays in its folder', () => {
  test('if the snapshot is of a newer version', async t => {
    const state = { format: 99, position: 7, time: 1, sections: {} }
    await refusedFetch(t, state, /no daemon could give it a snapshot: .*format 99, this natter reads \d+; upgrade it/)
  })

  test('if the other daemon is lost before all messages are here', async t => {
    const files = [{ name: '000000.segment', bytes: 1, sum: 1 }]
    const state = { format: 2, position: 7, time: 1, sections: {}, files }
    await refusedFetch(t, state, /no longer has messages\/000000\.segment/)
  })

  test('if the other daemon is behind, until it is not', async t => {
    const folder = mkdtempSync(join(tmpdir(), 'natter-fetch-'))
    t.after(() => rmSync(folder, { recursive: true, force: true }))
    const positions = [6, 7]
    const url = await fakeServer(t, (request, response) => {
      const state = { format: 2, position: 7, time: 1, sections: {} }
      json(response, request.url!.endsWith('/state.json') ? state : { position: positions.shift() })
    })
    const peers = new Peers('token')
    t.after(() => peers.close())
    await fetchSnapshot(peers, async () => [url], folder, identity, 7, 1)
    assert.deepEqual(positions, [])
    assert.ok(readdirSync(folder).includes('state.json'))
  })

  test('until a daemon that does not hang has a snapshot', async t => {
    const folder = mkdtempSync(join(tmpdir(), 'natter-fetch-'))
    t.after(() => rmSync(folder, { recursive: true, force: true }))
    let hangs = false
    const hanging = await fakeServer(t, () => {
      hangs = true
    })
    const well = await fakeServer(t, (request, response) => {
      const state = { format: 2, position: 7, time: 1, sections: {} }
      json(response, request.url!.endsWith('/state.json') ? state : { position: 7 })
    })
    const peers = new Peers('token')
    t.after(() => peers.close())
    // Etcd no longer names a daemon whose lease has ended.
    const listOthers = async () => (hangs ? [well] : [hanging, well])
    await fetchSnapshot(peers, listOthers, folder, identity, 7, 1)
    assert.ok(hangs)
    assert.ok(readdirSync(folder).includes('state.json'))
  })
})
