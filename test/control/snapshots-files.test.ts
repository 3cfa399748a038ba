import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { uploads } from '../../daemon/api/files/uploads.ts'
import { keyHeader } from '../../daemon/api/idempotency.ts'
import { messages } from '../../daemon/api/messages/messages.ts'
import { savedSnippets } from '../../daemon/api/messages/saved-snippets.ts'
import { presence } from '../../daemon/api/people/presence.ts'
import { memoryFiles } from '../../daemon/io/files.ts'
import { snapshotFiles } from '../../daemon/world/snapshot-file.ts'
import { inProcess } from '../support/cli-in-process.ts'
import { Control } from '../support/control.ts'
import { Caller, host, sharedDaemon, startDaemon, type TestDaemon } from '../support/daemon.ts'
import { openSpace } from '../support/spaces.ts'

const folder = mkdtempSync(join(tmpdir(), 'natter-snapshots-'))
after(() => rmSync(folder, { recursive: true, force: true }))

const newest = { anchor: 'newest', num_before: 1, num_after: 0, apply_markdown: false } as const

async function newestOf(caller: Caller): Promise<string> {
  return (await caller.call(messages.list, newest)).messages[0]!.content as string
}

function say(caller: Caller, content: string): Promise<unknown> {
  return caller.call(messages.send, { type: 'stream', to: 'general', topic: 'files', content })
}

function natter(daemon: TestDaemon, ...words: string[]) {
  const env = { NATTER_SITE: daemon.url, NATTER_CONTROL_TOKEN: daemon.ready.control_token! }
  return inProcess(words, { env })
}

describe('snapshots as files', () => {
  const daemon = sharedDaemon({ flags: ['--memory', '--preset', 'dev', '--clock', 'frozen@2030-01-01T00:00:00Z'] })

  test('leave one daemon and come into another, with uploads and clock', async t => {
    const { owner } = daemon()
    // More than a body without the control token may have.
    const bytes = Buffer.from('the bytes of a file'.padEnd(2_000_000))
    const file = { filename: 'note.txt', contentType: 'text/plain', bytes }
    const { url } = await owner.call(uploads.upload, { file })
    await owner.try(savedSnippets.create, { title: 'x', content: 'y' }, { [keyHeader]: 'a-key-of-mine' })
    await say(owner, `exported [note](${url})`)
    const path = join(folder, 'world.json')
    assert.equal((await natter(daemon(), 'snapshot', 'export', path)).code, 0)
    assert.ok(!readFileSync(path, 'utf8').includes(owner.key!), 'keys stay with their daemon')
    assert.ok(!readFileSync(path, 'utf8').includes('a-key-of-mine'), 'so do answers to requests')

    const other = await startDaemon(t, { flags: ['--memory'] })
    assert.equal((await natter(other, 'snapshot', 'import', path, 'theirs')).code, 0)
    assert.equal((await natter(other, 'snapshot', 'restore', 'theirs')).code, 0)
    const { account } = await new Control(other).call('GET', `/accounts/${owner.email}`)
    const there = new Caller(other.url, account.email, account.api_key, account.user_id)
    assert.match(await newestOf(there), /^exported/)
    assert.equal((await there.raw('GET', url)).text, String(bytes))
    assert.equal((await new Control(other).call('GET', '/clock')).time, '2030-01-01T00:00:00.000Z')
    const { resources } = await new Control(other).call('GET', '/snapshots/diff?from=theirs')
    assert.deepEqual(resources, {}, 'what was imported is what is there')
  })

  test('of a space that was made from a store on disk have the uploads of the store', async t => {
    const kept = await startDaemon(t, { flags: ['--control'] })
    const file = { filename: 'note.txt', contentType: 'text/plain', bytes: Buffer.from('on disk') }
    const { url } = await kept.owner.call(uploads.upload, { file })
    const made = await openSpace(kept, { from: 'main' })
    const { text } = await made.control.try('GET', '/snapshots/start/file')
    const space = await openSpace(kept)
    await space.control.call('POST', '/snapshots/theirs/file', { document: text })
    await space.control.call('POST', '/snapshots/theirs/restore')
    const { account } = await space.control.call('GET', `/accounts/${kept.owner.email}`)
    const there = new Caller(space.url, account.email, account.api_key, account.user_id)
    assert.equal((await there.raw('GET', url)).text, 'on disk')
  })

  test('come in again at both ends of the time that a clock can begin at, and no clock begins beyond them', async () => {
    for (const time of ['1971-01-01T00:00:00.000Z', '9999-12-31T23:59:59.999Z']) {
      const space = await openSpace(daemon(), { clock: `frozen@${time}` })
      await space.owner.call(presence.update, { status: 'active' })
      await say(space.owner, time)
      await space.control.call('POST', '/snapshots', { name: 'end' })
      const { text } = await space.control.try('GET', '/snapshots/end/file')
      const other = await openSpace(daemon())
      await other.control.call('POST', '/snapshots/end/file', { document: text })
      await other.control.call('POST', '/snapshots/end/restore')
      assert.equal((await other.control.call('GET', '/clock')).time, time)
    }
    for (const time of ['1970-12-31T23:59:59.999Z', '+010000-01-01T00:00:00.000Z', '-271821-04-20T00:00:00Z']) {
      const { status, body } = await new Control(daemon()).try('POST', '/spaces', { clock: `frozen@${time}` })
      assert.deepEqual(
        [status, body.msg],
        [400, 'clock: must be real, frozen or frozen@TIME (ISO 8601, from 1971 to 9999)'],
      )
    }
  })

  test('name no files that the store got after the space was made from it', async t => {
    const kept = await startDaemon(t, { flags: ['--control'] })
    const made = await openSpace(kept, { from: 'main' })
    const upload = (caller: Caller, text: string) =>
      caller.call(uploads.upload, {
        file: { filename: 'note.txt', contentType: 'text/plain', bytes: Buffer.from(text) },
      })
    await upload(kept.owner, 'a secret of the store')
    const { url } = await upload(made.owner, 'of the space')
    await made.control.call('POST', '/snapshots', { name: 'own' })
    const document = JSON.parse((await made.control.try('GET', '/snapshots/own/file')).text)
    const [own, secret] = ['of the space', 'a secret of the store'].map(text =>
      createHash('sha256').update(text).digest('hex'),
    )
    for (const row of document.sections.attachments) if (row.file === own) row.file = secret
    document.sections.uploads = document.sections.uploads.filter(({ name }: any) => name !== own)
    document.sums = 'edited'
    await made.control.call('POST', '/snapshots/theirs/file', { document: JSON.stringify(document) })
    await made.control.call('POST', '/snapshots/theirs/restore')
    const reply = await made.owner.raw('GET', url)
    assert.equal(reply.status, 404, reply.text)
  })

  test('bring no uploads that no row names, which would stay for good', async () => {
    const file = { filename: 'note.txt', contentType: 'text/plain', bytes: Buffer.from('named') }
    await daemon().owner.call(uploads.upload, { file })
    const document = JSON.parse((await new Control(daemon()).try('GET', '/snapshots/now/file')).text)
    const [named, extra] = [file.bytes, Buffer.from('extra')].map(bytes =>
      createHash('sha256').update(bytes).digest('hex'),
    )
    document.sections.uploads.push({ name: extra, content: Buffer.from('extra').toString('base64') })
    document.sums = 'edited'
    const files = memoryFiles()
    await snapshotFiles(files).read(JSON.stringify(document))
    const kept = await files.list()
    assert.deepEqual([kept.includes(named!), kept.includes(extra!)], [true, false])
  })

  test('found a daemon that starts with --from, and are written when one stops', async t => {
    await say(daemon().owner, 'before the end')
    const [path, last] = [join(folder, 'base.json'), join(folder, 'last.json')]
    const printed = await natter(daemon(), 'snapshot', 'export', path)
    assert.equal(printed.code, 0, printed.stderr)
    const flags = ['--memory', '--from', path, '--snapshot-on-exit', last]
    const second = await host(folder, { flags })
    assert.equal(await newestOf(second.owner), 'before the end')
    await say(second.owner, 'the last words')
    await second.stop()
    const third = await startDaemon(t, { flags: ['--memory', '--from', last] })
    assert.equal(await newestOf(third.owner), 'the last words')
    const { total } = await new Control(third).call('GET', '/snapshots/diff?from=start')
    assert.equal(total, 0)
  })

  test('a kept store is the base of a throw-away daemon, and stays as it is', async t => {
    const store = join(folder, 'store')
    const kept = await host(store, { flags: ['--preset', 'dev'] })
    t.after(() => kept.stop())
    await say(kept.owner, 'kept')
    const before = readFileSync(join(store, 'journal.ndjson'), 'utf8')
    const throwAway = await startDaemon(t, { flags: ['--memory', '--from', store] })
    assert.equal(await newestOf(throwAway.owner), 'kept')
    await say(throwAway.owner, 'thrown away')
    assert.equal(await newestOf(kept.owner), 'kept')
    assert.equal(readFileSync(join(store, 'journal.ndjson'), 'utf8'), before)
    await kept.compact()
    const again = await startDaemon(t, { flags: ['--memory', '--from', store] })
    assert.equal(await newestOf(again.owner), 'kept')
  })

  test('what is no snapshot, is cut off, changed or of a newer format is refused with a sentence', async () => {
    const whole = join(folder, 'whole.json')
    await natter(daemon(), 'snapshot', 'export', whole)
    const text = readFileSync(whole, 'utf8')
    for (const [content, sentence] of [
      ['{"hello":1}', /document: the file, line 1: not a snapshot of natter/],
      [text.slice(0, text.length / 2), /document: not a snapshot of natter: it is not valid JSON, or was cut off/],
      [text.replace(/"format":\d+/, '"format":99'), /format 99, this natter reads \d/],
      [text.replace('Everyone is here', 'Everyone was here'), /do not match their checksum/],
    ] as const) {
      const path = join(folder, 'broken.json')
      writeFileSync(path, content)
      const { code, stderr } = await natter(daemon(), 'snapshot', 'import', path, 'broken')
      assert.notEqual(code, 0)
      assert.match(stderr, sentence)
      await assert.rejects(host(folder, { flags: ['--memory', '--from', path] }), /natterd ended with 1: natterd: /)
    }
    const missing = await natter(daemon(), 'snapshot', 'export', join(folder, 'none.json'), 'nowhere')
    assert.equal(missing.code, 3)
    assert.match(missing.stderr, /there is no snapshot "nowhere"/)
    assert.ok(!existsSync(join(folder, 'none.json')))
  })

  test('--from of a folder that natter keep wrote says how to start with it', async () => {
    const kept = join(folder, 'kept')
    mkdirSync(kept)
    writeFileSync(join(kept, 'snapshot.json'), '{}')
    const started = host(join(folder, 'unused'), { flags: ['--memory', '--from', kept] })
    await assert.rejects(
      started,
      /is not the store of a natterd; .*natter exec --resume \S+kept starts with what natter keep/,
    )
  })

  test('--from wants a daemon in memory, something to read, and no other organization', async () => {
    for (const [flags, sentence] of [
      [['--from', 'x'], /--from needs --memory/],
      [['--memory', '--from', 'x', '--preset', 'dev'], /--from and --preset exclude each other/],
      [['--memory', '--from', join(folder, 'gone')], /--from: there is no .*gone/],
      [['--memory', '--from', join(import.meta.dirname)], /is not the store of a natterd/],
    ] as const)
      await assert.rejects(host(join(folder, 'unused'), { flags: [...flags] }), sentence)
  })
})
