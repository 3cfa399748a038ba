// Data exports: who may ask for one and fetch it, what administrators are told, how many there may be.

import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { channels } from '../../../daemon/api/channels/channels.ts'
import { uploads } from '../../../daemon/api/files/uploads.ts'
import { messages } from '../../../daemon/api/messages/messages.ts'
import { dataExports as api } from '../../../daemon/api/organization/exports.ts'
import { settings } from '../../../daemon/api/people/settings.ts'
import { users } from '../../../daemon/api/people/users.ts'
import type { Fact } from '../../../daemon/domain/facts.ts'
import { FileJournal } from '../../../daemon/journal/file-journal.ts'
import { checkArchive } from '../../../daemon/seed/import.ts'
import { entriesOf, exported, fetchAs, rowsIn, saveExport } from '../../support/archives.ts'
import { Control } from '../../support/control.ts'
import { type Caller, host, launch, sharedDaemon } from '../../support/daemon.ts'
import { until } from '../../support/until.ts'
import { direct, listen, people, person } from '../../support/world.ts'

let owner: Caller
let amy: Caller
let bob: Caller

const folder = mkdtempSync(join(tmpdir(), 'natter-exports-'))
after(() => rmSync(folder, { recursive: true, force: true }))

const daemon = sharedDaemon({ flags: ['--control', '--clock', 'frozen@2030-01-01T00:00:00Z'] }, async running => {
  owner = running.owner
  ;[amy, bob] = await people(running, 'amy', 'bob')
  await amy.call(channels.create, { name: 'open', subscribers: [amy.id, bob.id] })
  await amy.call(channels.create, { name: 'secret', subscribers: [amy.id, bob.id], invite_only: true })
  const file = { filename: 'plan.txt', contentType: 'text/plain', bytes: Buffer.from('the plan') }
  const { url } = await amy.call(uploads.upload, { file })
  await say(amy, 'open', `In public: [plan](${url})`)
  await say(amy, 'secret', 'In private')
  await direct(bob, owner, 'Between bob and the owner')
})

/** Room for more exports. */
async function nextWeek(): Promise<void> {
  await new Control(daemon()).advance('8d')
}

async function say(caller: Caller, channel: string, content: string): Promise<void> {
  await caller.call(messages.send, { type: 'channel', to: channel, topic: 'x', content })
}

describe('POST /export/realm', () => {
  test('makes an archive, and tells administrators when it was asked for and when it is complete', async () => {
    const heard = await listen(owner, ['realm_export', 'message'])
    const deaf = await listen(amy, ['realm_export'])
    const row = await exported(owner)
    const told: Record<string, any>[] = []
    const [requested, notice, finished] = await until(async () => {
      told.push(...(await heard()))
      return told.length >= 3 && told
    })
    const common = { id: row.id, acting_user_id: owner.id, deleted_timestamp: null, failed_timestamp: null }
    const same = { ...common, export_time: 1_893_456_000, export_type: 1 }
    assert.deepEqual(requested, { type: 'realm_export', exports: [{ ...same, export_url: null, pending: true }] })
    assert.deepEqual(finished, {
      type: 'realm_export',
      exports: [{ ...same, export_url: row.export_url, pending: false }],
    })
    assert.equal(
      notice!.message.content,
      'Your data export is complete. [View and download exports](/#organization/data-exports-admin).',
    )
    assert.deepEqual(await deaf(), [])
  })

  test('puts public data in, and nothing private', async () => {
    const file = join(folder, 'public.tar.gz')
    await saveExport(owner, file)
    const entries = await entriesOf(file)
    assert.deepEqual([[...entries.keys()][0], [...entries.keys()].at(-1)], ['export.json', 'checksums.json'])
    const { version: _, ...head } = JSON.parse(entries.get('export.json')!.toString())
    assert.deepEqual(head, {
      natter: 'export',
      format: 1,
      organization: 'Natter',
      export_type: 1,
      exported_at: '2030-01-01T00:00:00.000Z',
    })
    const texts = rowsIn(entries, 'messages').map(({ content }) => content)
    assert.ok(texts.some(text => text.startsWith('In public')))
    assert.ok(!texts.includes('In private') && !texts.includes('Between bob and the owner'))
    const [attachment] = rowsIn(entries, 'attachments')
    assert.equal(entries.get(`files/${attachment!.file}`)!.toString(), 'the plan')
    assert.deepEqual(
      rowsIn(entries, 'users').filter(user => 'password' in user),
      [],
    )
    assert.deepEqual(rowsIn(entries, 'messageFlags'), [])
  })

  test('adds the private data of users who allow it, and of no one else', async () => {
    await owner.refused(api.create, { export_type: 2 }, 'BAD_REQUEST')
    for (const person of [owner, bob]) await person.call(settings.update, { allow_private_data_export: true })
    await direct(amy, amy, 'Of amy alone')
    const file = join(folder, 'consented.tar.gz')
    await saveExport(owner, file, 2)
    const texts = rowsIn(await entriesOf(file), 'messages').map(({ content }) => content)
    assert.ok(texts.includes('In private') && texts.includes('Between bob and the owner'))
    assert.ok(!texts.includes('Of amy alone'))
    for (const person of [owner, bob]) await person.call(settings.update, { allow_private_data_export: false })
  })

  test('does not show an address that administrators cannot see, unless its owner allows the export', async () => {
    await amy.call(settings.update, { email_address_visibility: 4 })
    await owner.call(settings.update, { allow_private_data_export: true })
    const file = join(folder, 'hidden.tar.gz')
    const addresses = async (kind: 1 | 2) => {
      await nextWeek()
      await saveExport(owner, file, kind)
      const entries = await entriesOf(file)
      return rowsIn(entries, 'users').map(({ email }) => email)
    }
    for (const kind of [1, 2] as const) {
      const found = await addresses(kind)
      assert.ok(!found.includes(amy.email) && found.includes(bob.email), found.join())
    }
    await amy.call(settings.update, { allow_private_data_export: true })
    assert.ok((await addresses(2)).includes(amy.email))
    for (const person of [owner, amy])
      await person.call(settings.update, { allow_private_data_export: false, email_address_visibility: 1 })
  })

  test('is for administrators', async () => {
    await amy.refused(api.create, {}, 'UNAUTHORIZED_PRINCIPAL')
    await owner.refused(api.create, { export_type: 3 }, 'BAD_REQUEST')
  })

  test('is refused beyond five in seven days', async () => {
    await nextWeek()
    for (let count = 0; count < 5; count++) await exported(owner)
    const { msg } = await owner.refused(api.create, {}, 'BAD_REQUEST')
    assert.equal(msg, 'An organization can have at most 5 exports in 7 days. Try again later.')
    await nextWeek()
    await exported(owner)
  })

  test('begins again after a restart with what was not finished', async t => {
    const data = mkdtempSync(join(tmpdir(), 'natter-exports-'))
    t.after(() => rmSync(data, { recursive: true, force: true }))
    const first = await host(data)
    await first.stop()
    const journal = await FileJournal.open<Fact>({ folder: data, durability: 'fsync' })
    const row = { id: 1, userId: first.owner.id, kind: 1, requested: Date.now(), status: 'pending' } as const
    const fact = { type: 'export.requested', export: row, site: first.url } as const
    await journal.append({ time: Date.now(), actor: first.owner.id, op: 'export-realm', facts: [fact] }).durable
    await journal.close()
    const second = await host(data)
    const done = await until(async () =>
      (await second.owner.call(api.list, {})).exports.find(({ pending }) => !pending),
    )
    assert.equal((await fetchAs(second.owner, done.export_url!)).status, 200)
    await second.stop()
  })

  test('leaves out a file whose bytes have changed on the disk, so that the archive can be imported, and says so', async t => {
    const data = mkdtempSync(join(tmpdir(), 'natter-exports-'))
    t.after(() => rmSync(data, { recursive: true, force: true }))
    const daemon = await launch(data)
    await daemon.owner.call(settings.update, { allow_private_data_export: true })
    const file = { filename: 'plan.txt', contentType: 'text/plain', bytes: Buffer.from('the plan') }
    const { url } = await daemon.owner.call(uploads.upload, { file })
    await direct(daemon.owner, daemon.owner, `[plan](${url})`)
    const [name] = readdirSync(join(data, 'files'))
    for (const bytes of ['the', 'the plot']) {
      const archive = join(data, `${bytes}.tar.gz`)
      writeFileSync(join(data, 'files', name!), bytes)
      await saveExport(daemon.owner, archive, 2)
      const entries = await entriesOf(archive)
      assert.ok(!entries.has(`files/${name}`))
      assert.deepEqual(JSON.parse(String(entries.get('checksums.json'))).missing_files, [name])
      await checkArchive(archive)
    }
    const said = new RegExp(`lacks 1 of .* such as ${name}; .* their bytes have changed`, 'g')
    assert.equal(daemon.stderr.match(said)?.length, 2, daemon.stderr)
    await daemon.stop()
  })
})

describe('GET /export/realm', () => {
  test('lists exports with addresses that administrators can fetch, and no one else', async () => {
    await nextWeek()
    const { id, export_url } = await exported(owner)
    const { exports } = await owner.call(api.list, {})
    assert.equal(exports.find(one => one.id === id)!.export_url, export_url)
    assert.match(export_url!, /\/user_uploads\/exports\/1\/[0-9a-f-]{36}\/natter-export-2030-[\d-]+T00-00-00\.tar\.gz$/)
    const reply = await fetchAs(owner, export_url!)
    assert.deepEqual([reply.status, reply.headers.get('content-type')], [200, 'application/gzip'])
    assert.match(reply.headers.get('content-disposition')!, /^attachment; /)
    assert.equal((await fetchAs(amy, export_url!)).status, 404)
    assert.equal((await fetchAs(daemon().anonymous, export_url!)).status, 401)
    assert.equal((await fetchAs(owner, `${export_url}x`)).status, 404)
    await amy.refused(api.list, {}, 'UNAUTHORIZED_PRINCIPAL')
  })
})

describe('DELETE /export/realm/{export_id}', () => {
  test('deletes the archive, tells administrators, and is refused the second time', async () => {
    await nextWeek()
    const { id, export_url } = await exported(owner)
    const heard = await listen(owner, ['realm_export'])
    await amy.refused(api.remove, { export_id: id }, 'UNAUTHORIZED_PRINCIPAL')
    await owner.call(api.remove, { export_id: id })
    assert.equal((await fetchAs(owner, export_url!)).status, 404)
    const row = (await heard())[0]!.exports.find((one: { id: number }) => one.id === id)
    assert.deepEqual([row.pending, row.export_url, row.failed_timestamp], [false, null, null])
    assert.equal(row.deleted_timestamp, row.export_time)
    const again = await owner.refused(api.remove, { export_id: id }, 'BAD_REQUEST')
    assert.equal(again.msg, 'export_id: the export is already deleted')
    const { msg } = await owner.refused(api.remove, { export_id: 999 }, 'BAD_REQUEST')
    assert.equal(msg, 'export_id: there is no export with ID 999')
  })

  test('removes the file from the store', async t => {
    const data = mkdtempSync(join(tmpdir(), 'natter-exports-'))
    t.after(() => rmSync(data, { recursive: true, force: true }))
    const running = await host(data)
    const { id } = await exported(running.owner)
    const files = () => readdirSync(join(data, 'files'))
    assert.equal(files().length, 1)
    await running.owner.call(api.remove, { export_id: id })
    await until(() => files().length === 0)
    await running.stop()
  })
})

describe('GET /export/realm/consents', () => {
  test('tells administrators which people allow the export of their private data', async () => {
    const consented = async () =>
      Object.fromEntries((await owner.call(api.consents, {})).export_consents.map(one => [one.user_id, one.consented]))
    const before = await consented()
    assert.deepEqual([before[owner.id], before[amy.id]], [false, false])
    await amy.call(settings.update, { allow_private_data_export: true })
    const bo = await person(daemon(), 'bo')
    await owner.call(users.deactivate, { user_id: bo.id })
    const after = await consented()
    assert.deepEqual(after, { ...before, [amy.id]: true }, 'neither bots nor deactivated people')
    await amy.refused(api.consents, {}, 'UNAUTHORIZED_PRINCIPAL')
  })
})
