// Backups beside snapshots and deletions of uploads: each is one point in time. And what the daemon does with the files meanwhile.

import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { uploads } from '../../daemon/api/files/uploads.ts'
import { StoreHold, StoreHolds } from '../../daemon/journal/store-hold.ts'
import { backupToFile, backupToStream } from '../../daemon/maintenance/backup.ts'
import { checkStore } from '../../daemon/maintenance/check.ts'
import { newShell } from '../support/cli.ts'
import { host, launch, sharedDaemon, startDaemon, type TestDaemon } from '../support/daemon.ts'
import { until } from '../support/until.ts'
import { readUploads, uploadText, withUploadTraffic } from '../support/upload-traffic.ts'

let scratch: string

before(() => {
  scratch = mkdtempSync(join(tmpdir(), 'natter-backup-'))
})

after(() => rmSync(scratch, { recursive: true, force: true }))

const place = (name: string) => join(mkdtempSync(join(scratch, 'case-')), name)
const holdsIn = (folder: string) => readdirSync(folder).filter(name => name.startsWith('hold-'))

describe('a backup beside snapshots and deletions', () => {
  const daemon = sharedDaemon({ flags: ['--preset', 'dev'] })

  test('is what --from takes of a daemon that runs: every upload that its state names', async t => {
    const others: TestDaemon[] = []
    await withUploadTraffic(daemon(), async () => {
      for (let round = 0; round < 3; round++)
        others.push(await startDaemon(t, { flags: ['--memory', '--from', daemon().data] }))
    })
    for (const other of others) assert.ok((await readUploads(other.owner)) > 0)
    assert.deepEqual(holdsIn(daemon().data), [], 'it leaves nothing in the store')
  })

  test('is what a check sees: no upload is missing that was deleted meanwhile', async () => {
    await withUploadTraffic(daemon(), async () => {
      for (let round = 0; round < 3; round++) assert.deepEqual((await checkStore(daemon().data)).problems, [])
    })
    assert.deepEqual(holdsIn(daemon().data), [])
  })

  test('leaves out what other programs put beside the uploads', async () => {
    await uploadText(daemon().owner, 'beside another')
    const stray = join(daemon().data, 'files', '.DS_Store')
    writeFileSync(stray, '')
    await backupToFile(place('natter.tar'), { folder: daemon().data, withoutSecret: false, now: new Date() })
    rmSync(stray)
  })

  test('has every upload that its state names, and restores to a daemon that serves all of them', async t => {
    const shell = newShell(t)
    const backups: string[] = []
    await withUploadTraffic(daemon(), async () => {
      for (let round = 0; round < 4; round++) {
        const file = place('natter.tar')
        // In pieces with pauses, as over a slow connection: most of the traffic happens in the middle of it.
        const pieces: Uint8Array[] = []
        const write = async (piece: Uint8Array) => {
          pieces.push(Buffer.from(piece))
          if (pieces.length % 8 === 0) await uploadText(daemon().owner, `during backup ${round}, ${pieces.length}`)
        }
        await backupToStream(write, { folder: daemon().data, withoutSecret: false, now: new Date() })
        writeFileSync(file, Buffer.concat(pieces))
        backups.push(file)
      }
    })
    for (const file of backups) {
      const { code, stdout, stderr } = await shell.run(['restore', file, '--check'])
      assert.equal(code, 0, stdout + stderr)
      assert.match(stderr, /is good/)
    }
    const data = place('store')
    assert.equal((await shell.run(['restore', backups.at(-1)!, '--data', data])).code, 0)
    const other = await startDaemon(t, { data })
    assert.ok((await readUploads(other.owner)) > 10)
    assert.deepEqual(holdsIn(daemon().data), [], 'a backup leaves nothing in the store')
    const named = async () => (await daemon().owner.call(uploads.list, {})).attachments.length
    await until(async () => readdirSync(join(daemon().data, 'files')).length <= (await named()))
  })

  test('keeps the daemon from deleting files, and no longer', async () => {
    const files = () => readdirSync(join(daemon().data, 'files')).length
    const before = files()
    await uploadText(daemon().owner, 'held')
    const hold = StoreHold.take(daemon().data)!
    const { attachments } = await daemon().owner.call(uploads.list, {})
    const newest = Math.max(...attachments.map(({ id }) => id))
    await daemon().owner.call(uploads.remove, { attachment_id: newest })
    // A second one without the hold would be gone with the answer of the next call.
    await daemon().owner.call(uploads.list, {})
    assert.equal(files(), before + 1)
    const sizes = holdsIn(daemon().data).map(name => statSync(join(daemon().data, name)).size)
    assert.deepEqual(sizes, [0], 'a full disk has room for it')
    hold.release()
    await until(() => files() === before)
  })

  test('fails where the daemon took the backup for dead', async () => {
    const take = async () => {
      for (const name of holdsIn(daemon().data)) rmSync(join(daemon().data, name))
    }
    const options = { folder: daemon().data, withoutSecret: false, now: new Date() }
    await assert.rejects(backupToStream(take, options), /natterd no longer waited for it; run it again/)
  })

  test('fails where an upload is taken away while it is read', async () => {
    await uploadText(daemon().owner, 'taken away')
    const folder = join(daemon().data, 'files')
    const names = readdirSync(folder).sort()
    const last = join(folder, names.at(-1)!)
    const write = async () => rmSync(last, { force: true })
    const options = { folder: daemon().data, withoutSecret: false, now: new Date() }
    await assert.rejects(backupToStream(write, options), /files\/[0-9a-f]+ was deleted while the backup was made/)
  })

  test('is refused where uploads are missing or damaged, which the last good backup may still have', async t => {
    const data = place('store')
    const first = await host(data)
    await uploadText(first.owner, 'precious')
    await first.stop()
    const [name] = readdirSync(join(data, 'files'))
    const path = join(data, 'files', name!)
    const shell = newShell(t)
    const backup = (...more: string[]) => shell.run(['backup', place('natter.tar'), '--data', data, ...more])
    assert.equal((await backup()).code, 0)
    writeFileSync(path, 'other')
    const changed = await backup()
    assert.deepEqual([changed.code, (await backup('--incomplete')).code], [1, 0])
    assert.match(changed.stderr, /files\/[0-9a-f]+ does not have the content that its name says/)
    rmSync(path)
    const gone = await backup()
    assert.deepEqual([gone.code, (await backup('--incomplete')).code], [1, 0])
    assert.match(
      gone.stderr,
      /the store lacks files that it needs \(1\), such as files\/[0-9a-f]+; put them back, or add --incomplete/,
    )
  })
})

describe('a backup of a store without its folder of uploads', () => {
  test('is refused while a daemon runs, after it was killed, and where the folder is a link that leads nowhere', async t => {
    const data = place('store')
    const daemon = await launch(data)
    await uploadText(daemon.owner, 'precious')
    const backup = () => newShell(t).run(['backup', place('natter.tar'), '--data', data])
    rmSync(join(data, 'files'), { recursive: true })
    symlinkSync(join(data, 'not-mounted'), join(data, 'files'))
    assert.match((await backup()).stderr, /"files" is a link; move what it leads to into the folder, or mount it there/)
    rmSync(join(data, 'files'))
    assert.match((await backup()).stderr, /the store lacks files that it needs/)
    await daemon.compact()
    assert.match((await backup()).stderr, /the store lacks files that it needs/)
    await daemon.kill()
    assert.ok(existsSync(join(data, 'daemon.json')))
    assert.match((await backup()).stderr, /the store lacks files that it needs/)
  })
})

describe('the holds on a store', () => {
  test('last as long as they are touched, each by itself; one whose owner was killed ends', () => {
    const folder = mkdtempSync(join(scratch, 'held-'))
    let now = 0
    const holds = new StoreHolds(folder, () => now)
    assert.equal(holds.any(), false)
    const touched = join(folder, 'hold-00000000-0000-4000-8000-000000000001')
    const killed = join(folder, 'hold-00000000-0000-4000-8000-000000000002')
    for (const file of [touched, killed]) writeFileSync(file, '')
    for (; now < 60_000; now += 1000) {
      utimesSync(touched, now, now)
      assert.equal(holds.any(), true)
      assert.equal(existsSync(killed), now <= 30_000, `after ${now} ms`)
    }
    rmSync(touched)
    assert.equal(holds.any(), false)
  })

  test('are for two backups at once, and for a daemon that starts meanwhile', async t => {
    const data = place('store')
    const first = await launch(data)
    await uploadText(first.owner, 'unneeded')
    const { attachments } = await first.owner.call(uploads.list, {})
    const holds = [StoreHold.take(data)!, StoreHold.take(data)!]
    await first.owner.call(uploads.remove, { attachment_id: attachments[0]!.id })
    await first.kill()
    await startDaemon(t, { data })
    const files = () => readdirSync(join(data, 'files'))
    assert.equal(files().length, 1, 'the sweep of the start leaves it')
    holds[0]!.release()
    assert.equal(holds[1]!.lasts, true)
    holds[1]!.release()
    await until(() => files().length === 0)
  })

  test('are not needed where nothing can be written and nothing happens', async t => {
    const data = place('store')
    const daemon = await host(data)
    await uploadText(daemon.owner, 'kept')
    await daemon.end()
    t.mock.method(StoreHold, 'take', () => undefined)
    const file = place('natter.tar')
    await backupToFile(file, { folder: data, withoutSecret: false, now: new Date() })
    const { code, stderr } = await newShell(t).run(['restore', file, '--check'])
    assert.equal(code, 0, stderr)
  })
})
