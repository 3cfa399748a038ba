// `natterd --import`: a store begins with the organization of an archive, and with nothing if the archive cannot be used.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { packTar, type TarEntry } from 'modern-tar'
import { botStorage } from '../../daemon/api/bots/bot-storage.ts'
import { bots } from '../../daemon/api/bots/bots.ts'
import { channels } from '../../daemon/api/channels/channels.ts'
import { topics } from '../../daemon/api/channels/topics.ts'
import { events } from '../../daemon/api/events.ts'
import { uploads } from '../../daemon/api/files/uploads.ts'
import { drafts } from '../../daemon/api/messages/drafts.ts'
import { messageFlags } from '../../daemon/api/messages/message-flags.ts'
import { messages } from '../../daemon/api/messages/messages.ts'
import { reactions } from '../../daemon/api/messages/reactions.ts'
import { savedSnippets } from '../../daemon/api/messages/saved-snippets.ts'
import { scheduledMessages } from '../../daemon/api/messages/scheduled-messages.ts'
import { emoji } from '../../daemon/api/organization/emoji.ts'
import { organization } from '../../daemon/api/organization/organization.ts'
import { avatars } from '../../daemon/api/people/avatars.ts'
import { settings } from '../../daemon/api/people/settings.ts'
import { userGroups } from '../../daemon/api/people/user-groups.ts'
import { userStatus } from '../../daemon/api/people/user-status.ts'
import { users } from '../../daemon/api/people/users.ts'
import { limits } from '../../daemon/domain/limits.ts'
import { memoryFiles } from '../../daemon/io/files.ts'
import { checkArchive, loadArchive } from '../../daemon/seed/import.ts'
import { readConfig } from '../../daemon/start/config.ts'
import { type Entries, entriesOf, pack, saveExport } from '../support/archives.ts'
import { Caller, host, launch, type TestDaemon } from '../support/daemon.ts'
import { givesUp, refusal } from '../support/gives-up.ts'
import { pixel } from '../support/images.ts'
import { direct, people } from '../support/world.ts'

const folder = mkdtempSync(join(tmpdir(), 'natter-import-'))
const archive = join(folder, 'export.tar.gz')
/** Everything that the accounts can see of the organization, before it was exported. */
const seen = new Map<string, unknown>()
let everybody: Caller[]
let plan = ''

before(async () => {
  const daemon = await host(join(folder, 'old'), { flags: ['--secret', 'the same for both'] })
  everybody = await furnish(daemon)
  for (const caller of everybody) seen.set(caller.email!, await viewOf(caller))
  await saveExport(daemon.owner, archive, 2)
  await daemon.stop()
})
after(() => rmSync(folder, { recursive: true, force: true }))

describe('natterd --import', () => {
  test('begins with an organization that every account finds as it was', async () => {
    const data = join(folder, 'new')
    let daemon = await host(data, { flags: ['--import', archive, '--secret', 'the same for both'] })
    for (const { email, key, id } of everybody) {
      const view = await viewOf(new Caller(daemon.url, email, key, id))
      assert.deepEqual(view, seen.get(email!), email)
    }
    const reply = await daemon.owner.raw('GET', plan)
    assert.deepEqual([reply.status, reply.text], [200, 'the plan'])
    const password = 'amy has a long password'
    await daemon.anonymous.refused(
      users.fetchApiKey,
      { username: 'amy@example.com', password },
      'AUTHENTICATION_FAILED',
    )
    // IDs go on where they were, and the store is a store like any other.
    const { id } = await daemon.owner.call(messages.send, { type: 'direct', to: [daemon.owner.id], content: 'Here' })
    assert.ok(id > Math.max(...(await viewOf(daemon.owner)).messages.slice(0, -1).map(({ id }) => id)))
    await daemon.stop()
    daemon = await host(data, { flags: ['--secret', 'the same for both'] })
    const { messages: later } = await viewOf(daemon.owner)
    assert.equal(later.at(-1)!.content, '<p>Here</p>')
    await daemon.stop()
  })

  test('works in memory, and gives new keys where the secret is another one', async () => {
    const daemon = await host(folder, { flags: ['--memory', '--import', archive] })
    const { members } = await daemon.owner.call(users.list, {})
    assert.ok(members.some(({ full_name }) => full_name === 'amy example'))
    assert.notEqual(daemon.ready.owner.api_key, everybody[0]!.key)
    await daemon.stop()
  })

  test('says which files the archive lacks, and so does the daemon that has lost them and writes it', async () => {
    const lost = createHash('sha256').update('the plan').digest('hex')
    const lossy = join(folder, 'lossy.tar.gz')
    const says = (name: string, text: string) =>
      assert.match(
        text,
        new RegExp(`${name} lacks 1 of the files that its rows name, such as ${lost}; checksums\\.json`),
      )
    let daemon = await launch(join(folder, 'loser'), { flags: ['--import', archive] })
    assert.ok(!daemon.stderr.includes('lacks'), daemon.stderr)
    rmSync(join(folder, 'loser/files', lost))
    await saveExport(daemon.owner, lossy, 2)
    says('the export \\d+', daemon.stderr)
    await daemon.stop()
    daemon = await launch(join(folder, 'heir'), { flags: ['--import', lossy] })
    says('the archive .*lossy.tar.gz', daemon.stderr)
    await daemon.stop()
  })

  test('takes an archive whose messages were taken out, and the organization can be exported again', async () => {
    const emptied = join(folder, 'emptied.tar.gz')
    const entries = await entriesOf(archive)
    for (const [name, bytes] of entries)
      if (name.startsWith('sections/messages/')) entries.set(name, bytes.subarray(0, bytes.indexOf('\n') + 1))
    await pack(entries, emptied)
    const daemon = await host(folder, { flags: ['--memory', '--import', emptied] })
    await saveExport(daemon.owner, join(folder, 'again.tar.gz'), 2)
    await daemon.stop()
  })

  test('refuses a store that has an organization', async () => {
    const data = join(folder, 'old')
    const journal = () => readFileSync(join(data, 'state.json'), 'utf8')
    const before = journal()
    assert.match(await refusal(data, ['--import', archive, '--secret', 'the same for both']), /needs an empty store/)
    assert.equal(journal(), before)
  })

  test('refuses other ways to fill a new store', () => {
    for (const flags of [
      ['--seed', 'seed.json'],
      ['--preset', 'dev'],
      ['--owner', 'me@example.com'],
      ['--org', 'Mine'],
    ])
      assert.throws(() => readConfig(['--import', archive, ...flags], {}), /--import and --\w+ cannot be combined/)
  })

  test('takes sections with several parts', async () => {
    const flags = ['--secret', 'the same for both']
    let daemon = await host(join(folder, 'large'), { flags })
    let { owner } = daemon
    await owner.call(settings.update, { allow_private_data_export: true })
    const long = 'y'.repeat(9000)
    const draft = { type: '', to: [], topic: '', content: long } as const
    for (let i = 0; i < 2; i++) await owner.call(drafts.create, { drafts: Array(100).fill(draft) })
    for (let i = 0; i < 120; i++) await owner.call(savedSnippets.create, { title: `${i}`, content: long })
    // Each has 80,000 characters of HTML.
    for (let i = 0; i < 20; i++) await direct(owner, owner, `${i}\n${'```spoiler\n```\n'.repeat(660)}`)
    const before = await viewOf(owner)
    assert.deepEqual([before.messages.length >= 20, before.state.drafts.length], [true, 200])
    const large = join(folder, 'large.tar.gz')
    await saveExport(owner, large, 2)
    await daemon.stop()
    const entries = await entriesOf(large)
    for (const section of ['messages', 'drafts', 'savedSnippets'])
      assert.ok(entries.has(`sections/${section}/000002.ndjson`), section)

    daemon = await host(join(folder, 'large-new'), { flags: ['--import', large, ...flags] })
    owner = daemon.owner
    assert.deepEqual(await viewOf(owner), before)
    const newest = await direct(owner, owner, 'Here')
    assert.equal(newest, before.messages.at(-1)!.id + 1)
    await daemon.stop()

    const head = { last_id: 0, places: [], clients: [], files: [] }
    await pack(entries.set('sections/messages/000099.ndjson', Buffer.from(`${JSON.stringify(head)}\n`)), large)
    await checkArchive(large)
    const { lastId } = (await loadArchive(large, memoryFiles())).messages
    assert.equal(lastId, newest - 1, 'IDs never go back, whatever a later part says')
  })

  test('takes a message with the longest history that it can have', async () => {
    const entries = await entriesOf(archive)
    const part = 'sections/messages/000001.ndjson'
    const lines = entries.get(part)!.toString().split('\n')
    const edited = lines.findIndex(line => line.includes('"prevContent"'))
    const row = JSON.parse(lines[edited]!)
    const { edits } = row.details
    const long = { ...edits[0], prevContent: '\u0001'.repeat(9000), prevHtml: '\u0001'.repeat(9000) }
    row.details.edits = Array(Math.ceil((2 * limits.messageHistory) / 18_000)).fill(long)
    entries.set(part, Buffer.from(lines.with(edited, JSON.stringify(row)).join('\n')))
    const file = join(folder, 'long.tar.gz')
    await pack(entries, file)
    await checkArchive(file)
    const state = await loadArchive(file, memoryFiles())
    assert.equal(state.messages.details(row.id)!.edits!.length, row.details.edits.length)
  })

  describe('an archive that cannot be used', () => {
    let entries: Entries
    before(async () => {
      entries = await entriesOf(archive)
    })
    const file = join(folder, 'bad.tar.gz')

    async function refuses(words: RegExp): Promise<void> {
      const importing = async () => {
        await checkArchive(file)
        await loadArchive(file, memoryFiles())
      }
      await assert.rejects(importing, ({ message }: Error) => {
        assert.match(message, words)
        assert.ok(message.startsWith(`the archive ${file} `))
        return true
      })
      rmSync(file, { force: true })
    }
    const changed = (name: RegExp, change: (text: string) => string): Entries =>
      new Map([...entries].map(([key, bytes]) => [key, name.test(key) ? Buffer.from(change(bytes.toString())) : bytes]))

    test('is not there', () => refuses(/the archive .*bad\.tar\.gz cannot be read: ENOENT/))

    test('is something else', async () => {
      writeFileSync(file, 'Hello')
      await refuses(/is not a gzip file/)
      writeFileSync(file, gzipSync('Hello'.repeat(1000)))
      await refuses(/is not a tar archive, or is damaged/)
    })

    test('is of another server', async () => {
      const body = Buffer.from('{"zerver_realm": []}')
      writeFileSync(file, gzipSync(await packTar([{ header: { name: 'export/realm.json', size: body.length }, body }])))
      await refuses(/is not an export of natterd\. Archives of other servers cannot be imported/)
    })

    test('is reported by natterd, and leaves a store that the next start can use', async () => {
      const data = join(folder, 'empty')
      writeFileSync(file, readFileSync(archive).subarray(0, 1000))
      givesUp(['--data', data, '--import', file], 1, /^natterd: the archive .*bad\.tar\.gz is cut short\n$/)
      assert.equal(existsSync(join(data, 'state.json')), false)
      assert.equal(existsSync(join(data, 'secret')), false)
      const daemon = await host(data, { flags: ['--import', archive] })
      await daemon.stop()
    })

    test('has an entry twice, or one that is not a file', async () => {
      const all: TarEntry[] = [...entries].map(([name, body]) => ({ header: { name, size: body.length }, body }))
      const packed = async (place: number, entry: TarEntry) =>
        writeFileSync(file, gzipSync(await packTar(all.toSpliced(place, 0, entry))))
      for (const entry of [all[0]!, all.find(({ header }) => header.name.startsWith('files/'))!]) {
        await packed(all.length - 1, entry)
        await refuses(/has an entry more than once: /)
      }
      const name = `files/${'0'.repeat(64)}`
      for (const type of ['symlink', 'link'] as const) {
        await packed(1, { header: { name, size: 0, type, linkname: '/etc/passwd' } })
        await refuses(/has an entry that is not a file: files\/0+/)
      }
    })

    test('cannot steer the terminal by the names of its entries', async () => {
      await pack(new Map([...[...entries].slice(0, 1), ['x\u001b]0;y\u0007', Buffer.from('x')]]), file)
      const data = join(folder, 'steered')
      const said = givesUp(['--data', data, '--import', file], 1, /has an unknown entry: x\\x1b\]0;y\\x07\n$/)
      assert.ok(!said.includes('\u001b'))
      rmSync(file)
    })

    test('was cut short', async () => {
      const whole = readFileSync(archive)
      for (const length of [20, whole.length >> 1, whole.length - 1]) {
        writeFileSync(file, whole.subarray(0, length))
        await refuses(/is cut short/)
      }
      await pack(new Map([...entries].slice(0, -1)), file)
      await refuses(/is cut short/)
    })

    test('has changed bytes', async () => {
      const whole = readFileSync(archive)
      whole[whole.length >> 1]! ^= 1
      writeFileSync(file, whole)
      await refuses(/is damaged|is cut short/)
      await pack(
        changed(/sections\/users/, text => text.replace('amy example', 'eve example')),
        file,
        false,
      )
      await refuses(/is damaged: sections\/users\/000001\.ndjson has changed since it was written/)
      await pack(
        changed(/^files\//, text => `${text}!`),
        file,
      )
      await refuses(/is damaged: files\/[0-9a-f]{64} has changed since it was written/)
    })

    test('lacks a part, or has one too many', async () => {
      const lacking = new Map([...entries].filter(([name]) => !name.startsWith('sections/drafts')))
      await pack(lacking, file, false)
      await refuses(/lacks sections\/drafts\/000001\.ndjson/)
      await pack(new Map([...entries, ['sections/spells/000001.ndjson', Buffer.from('{}\n')]]), file)
      await refuses(/goes on after its end|has an unknown entry/)
      await pack(new Map([...lacking].filter(([name]) => !name.startsWith('sections/channels/'))), file)
      await refuses(/channelId: there is no channel \d+/)
      await pack(new Map([...entries].filter(([name]) => !name.startsWith('sections/users'))), file)
      await refuses(/users: there is no active owner/)
    })

    test('has another format', async () => {
      await pack(
        changed(/^export\.json$/, text => text.replace('"format":1', '"format":2')),
        file,
      )
      await refuses(/has format 2, and this version reads format 1\. Import it with natterd \d/)
    })

    test('has rows that cannot be read', async () => {
      await pack(
        changed(/sections\/users/, text => text.replaceAll('"email"', '"mail"')),
        file,
      )
      await refuses(/cannot be used: users, row 2: email: must be a string/)
      await pack(
        changed(/sections\/drafts/, text => text.replace(/"last_id":\d+/, '"last_id":268435455')),
        file,
      )
      await refuses(/cannot be used: drafts: the highest ID, 268435455, leaves no room for later ones/)
      // The last row need not end with a line break.
      for (const end of ['\n', '']) {
        await pack(
          changed(/sections\/drafts/, text => `${text}nonsense${end}`),
          file,
        )
        await refuses(/is damaged: sections\/drafts\/000001\.ndjson is not a JSON object/)
      }
      await pack(
        changed(/sections\/drafts/, text => `${text}{"id":${'['.repeat(90_000)}${']'.repeat(90_000)}}\n`),
        file,
      )
      await refuses(/is damaged: sections\/drafts\/000001\.ndjson is not a JSON object, or is nested too deeply/)
    })
  })
})

/** A bit of everything; all users allow the export. */
async function furnish(daemon: TestDaemon): Promise<Caller[]> {
  const { owner } = daemon
  const [amy, bob] = await people(daemon, 'amy', 'bob')
  const bot = await amy.call(bots.create, { short_name: 'echo', full_name: 'Echo', bot_type: 1 })
  const echo = new Caller(daemon.url, 'echo-bot@example.com', bot.api_key, bot.user_id)
  const picture = { filename: 'pixel.png', contentType: 'image/png', bytes: pixel.png }
  await owner.call(organization.update, { name: 'Moving house', description: 'Boxes everywhere' })
  await owner.call(emoji.upload, { emoji_name: 'box', file: picture })
  await amy.call(avatars.upload, { file: picture })
  await amy.call(channels.create, { name: 'open', subscribers: [owner.id, amy.id, bob.id] })
  const hidden = { invite_only: true, history_public_to_subscribers: false }
  await amy.call(channels.create, { name: 'hidden', subscribers: [amy.id, bob.id], ...hidden })
  await owner.call(userGroups.create, { name: 'movers', description: 'who carry', members: [amy.id, bob.id] })
  const { url } = await amy.call(uploads.upload, {
    file: { filename: 'plan.txt', contentType: 'text/plain', bytes: Buffer.from('the plan') },
  })
  plan = url
  const say = async (caller: Caller, to: string, content: string) =>
    (await caller.call(messages.send, { type: 'channel', to, topic: 'boxes', content })).id
  const first = await say(amy, 'open', `See the [plan](${url}), @**bob example**`)
  await say(bob, 'open', 'I :box: it')
  await say(echo, 'hidden', 'Behind closed doors')
  await direct(bob, amy, 'Heavy')
  await direct(echo, [bob, owner], 'All of us')
  await amy.call(messages.update, { message_id: first, content: `The [plan](${url}) has changed, @**bob example**` })
  await bob.call(reactions.add, { message_id: first, emoji_name: 'tada' })
  await bob.call(messageFlags.update, { messages: [first], op: 'add', flag: 'starred' })
  await owner.call(messageFlags.update, { messages: [first], op: 'add', flag: 'read' })
  await bob.call(topics.follow, { stream_id: 1, topic: 'boxes', visibility_policy: 3 })
  await bob.call(drafts.create, { drafts: [{ type: '', to: [], topic: '', content: 'Later' }] })
  await bob.call(savedSnippets.create, { title: 'Greeting', content: 'Hello' })
  const due = Math.floor(Date.now() / 1000) + 86_400
  await amy.call(scheduledMessages.create, {
    type: 'direct',
    to: [bob.id],
    content: 'Tomorrow',
    scheduled_delivery_timestamp: due,
  })
  await amy.call(userStatus.update, { status_text: 'carrying' })
  await echo.call(botStorage.put, { storage: { count: '3' } })
  for (const caller of [owner, amy, bob])
    await caller.call(settings.update, { allow_private_data_export: true, enter_sends: true })
  return [owner, amy, bob, echo]
}

/** What an account sees. Where the server is, and when it is asked, is not a part of the organization. */
async function viewOf(caller: Caller) {
  const reply = await caller.call(events.register, { include_subscribers: 'true' })
  const { queue_id, server_timestamp: _, ...state } = reply as Record<string, any>
  await caller.call(events.delete, { queue_id })
  const page = { anchor: 'oldest', num_before: 0, num_after: 1000 } as const
  const { messages: found } = await caller.call(messages.list, page)
  const { attachments } = await caller.call(uploads.list, {})
  const view = JSON.stringify({ state, messages: found, attachments })
  return JSON.parse(view.replaceAll(caller.url, 'http://here')) as {
    state: Record<string, any>
    messages: Record<string, any>[]
    attachments: unknown[]
  }
}
