// Backups of a store that is in use, and what a restore accepts and refuses.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, type TestContext, test } from 'node:test'
import { packTar, unpackTar } from 'modern-tar'
import { messages } from '../../daemon/api/messages/messages.ts'
import { users } from '../../daemon/api/people/users.ts'
import { restoringName } from '../../daemon/journal/store-folder.ts'
import { backupToStream } from '../../daemon/maintenance/backup.ts'
import { manifestText } from '../../daemon/maintenance/backup-format.ts'
import { newShell } from '../support/cli.ts'
import { host, sharedDaemon, startDaemon, type TestDaemon } from '../support/daemon.ts'
import { root } from '../support/sources.ts'

let scratch: string

before(() => {
  scratch = mkdtempSync(join(tmpdir(), 'natter-backup-'))
})

after(() => rmSync(scratch, { recursive: true, force: true }))

function place(name: string): string {
  return join(mkdtempSync(join(scratch, 'case-')), name)
}

function natter(t: TestContext, ...args: string[]) {
  return newShell(t).run(args)
}

async function say(daemon: TestDaemon, content: string): Promise<number> {
  const { user_id } = daemon.ready.owner
  return (await daemon.owner.call(messages.send, { type: 'direct', to: [user_id], content })).id
}

async function contentsOf(daemon: TestDaemon): Promise<string[]> {
  const query = { anchor: 'newest', num_before: 1000, apply_markdown: false } as const
  return (await daemon.owner.call(messages.list, query)).messages.map(message => message.content)
}

async function upload(daemon: TestDaemon): Promise<string> {
  const boundary = 'b'
  const part = `--${boundary}\r\nContent-Disposition: form-data; name="f"; filename="a.txt"\r\n\r\nHello file\r\n--${boundary}--\r\n`
  const form = { body: part, headers: { 'Content-Type': `multipart/form-data; boundary=${boundary}` } }
  const { body } = await daemon.owner.raw('POST', '/api/v1/user_uploads', form)
  assert.equal(body.result, 'success', JSON.stringify(body))
  return String(body.url)
}

describe('natter backup', () => {
  const daemon = sharedDaemon({ flags: ['--preset', 'dev'] })

  test('has everything that was answered before it began, and restores to a store that a daemon starts on', async t => {
    await say(daemon(), 'before the snapshot')
    const url = await upload(daemon())
    await daemon().compact()
    await say(daemon(), 'after the snapshot')
    const file = place('natter.tar')
    const made = await natter(t, 'backup', file, '--data', daemon().data, '--json')
    assert.equal(made.code, 0, made.stderr)
    assert.equal(JSON.parse(made.stdout).secret, true)
    assert.equal(statSync(file).mode & 0o777, 0o600)
    const data = place('store')
    const restored = await natter(t, 'restore', file, '--data', data)
    assert.equal(restored.code, 0, restored.stderr)
    const other = await startDaemon(t, { data })
    assert.equal(other.ready.owner.api_key, daemon().ready.owner.api_key)
    assert.deepEqual((await contentsOf(other)).slice(-2), ['before the snapshot', 'after the snapshot'])
    assert.equal(readFileSync(join(data, 'files', readdirSync(join(data, 'files'))[0]!), 'utf8'), 'Hello file')
    assert.equal((await other.owner.raw('GET', `/api/v1${url}`)).body.result, 'success')
  })

  test('is consistent while messages are sent and the store is compacted', async t => {
    let sending = true
    let sent = 0
    const traffic = (async () => {
      for (; sending; sent++) await say(daemon(), `message ${sent}`)
    })()
    const compacting = (async () => {
      while (sending) await daemon().compact()
    })()
    try {
      for (let round = 0; round < 2; round++) {
        const known = sent
        const file = place('natter.tar')
        const made = await natter(t, 'backup', file, '--data', daemon().data)
        assert.equal(made.code, 0, made.stderr)
        const data = place('store')
        const restored = await natter(t, 'restore', file, '--data', data)
        assert.equal(restored.code, 0, restored.stderr)
        const stats = JSON.parse((await natter(t, 'store', 'stats', '--data', data, '--json')).stdout)
        assert.ok(stats.messages >= known, `${stats.messages} messages, but ${known} were answered before`)
      }
    } finally {
      sending = false
      await Promise.all([traffic, compacting])
    }
  })

  test('leaves out the secret if asked to: API keys are then new', async t => {
    const file = place('natter.tar')
    assert.equal((await natter(t, 'backup', file, '--data', daemon().data, '--without-secret')).code, 0)
    const data = place('store')
    const restored = await natter(t, 'restore', file, '--data', data)
    assert.match(restored.stderr, /no file 'secret': .*--new-secret/)
    const other = await startDaemon(t, { data, flags: ['--new-secret'] })
    assert.notEqual(other.ready.owner.api_key, daemon().ready.owner.api_key)
    await other.owner.call(users.me, {})
  })

  test('writes to stdout as -, and restores from stdin', async t => {
    const shell = newShell(t)
    const child = shell.spawn(['backup', '-', '--data', daemon().data])
    const pieces: Buffer[] = []
    child.stdout!.on('data', piece => pieces.push(piece))
    assert.equal(await new Promise(resolve => child.once('close', resolve)), 0)
    const checking = shell.spawn(['restore', '-', '--check', '--json'])
    checking.stdin!.end(Buffer.concat(pieces))
    let text = ''
    checking.stdout!.setEncoding('utf8').on('data', more => {
      text += more
    })
    assert.equal(await new Promise(resolve => checking.once('close', resolve)), 0)
    assert.ok(JSON.parse(text).position > 0)
  })

  test('does not replace a file unless it is told to', async t => {
    const file = place('natter.tar')
    writeFileSync(file, 'mine')
    const refused = await natter(t, 'backup', file, '--data', daemon().data)
    assert.equal(refused.code, 2)
    assert.match(refused.stderr, /exists\n {2}Choose another name, or add --yes to replace it\./)
    assert.equal(readFileSync(file, 'utf8'), 'mine')
    for (const flag of ['--yes', '--force'])
      assert.equal((await natter(t, 'backup', file, '--data', daemon().data, flag)).code, 0)
  })

  test('ends with the reason and leaves nothing behind where the disk takes no more', t => {
    // Larger than what is read at once, so that the backup is in the middle of a file.
    const data = place('store')
    cpSync(daemon().data, data, { recursive: true })
    mkdirSync(join(data, 'outbox'), { recursive: true })
    writeFileSync(join(data, 'outbox', 'large.eml'), Buffer.alloc(4 * 1024 * 1024))
    const file = place('natter.tar')
    // bash counts in blocks of 1024 bytes; node does not die of SIGXFSZ, it gets EFBIG.
    const limited = ['-c', 'ulimit -f 2048; exec "$0" "$@"', process.execPath, join(root, 'bin/natter')]
    const { status, stderr } = spawnSync('bash', [...limited, 'backup', file, '--data', data], {
      encoding: 'utf8',
      env: { ...process.env, HOME: newShell(t).home },
    })
    assert.equal(status, 1, stderr)
    assert.match(stderr, /EFBIG: file too large, write '.*natter\.tar'/)
    assert.deepEqual(readdirSync(dirname(file)), [])
  })

  test('ends with the reason where a file becomes shorter while it is read', async () => {
    const data = place('store')
    cpSync(daemon().data, data, { recursive: true })
    mkdirSync(join(data, 'outbox'), { recursive: true })
    const large = join(data, 'outbox', 'large.eml')
    writeFileSync(large, Buffer.alloc(4 * 1024 * 1024))
    const cutLarge = async (piece: Uint8Array) => {
      if (piece.length > 256 * 1024) truncateSync(large, 1)
    }
    await assert.rejects(
      backupToStream(cutLarge, { folder: data, withoutSecret: false, now: new Date() }),
      /a file of the store became shorter while it was read/,
    )
  })

  test('refuses a folder without a store', async t => {
    const empty = place('empty')
    mkdirSync(empty)
    const { code, stderr } = await natter(t, 'backup', place('natter.tar'), '--data', empty)
    assert.equal(code, 3)
    assert.match(stderr, /has no store; name the folder of one with --data/)
  })
})

describe('natter restore', () => {
  let backup: Buffer
  let file: string
  let running: TestDaemon

  before(async () => {
    running = await host(mkdtempSync(join(scratch, 'running-')), { flags: ['--preset', 'dev'] })
    await say(running, 'kept')
    await running.compact()
    await say(running, 'kept too')
    file = place('natter.tar')
    const { backupToFile } = await import('../../daemon/maintenance/backup.ts')
    await backupToFile(file, { folder: running.data, withoutSecret: false, now: new Date(0) })
    backup = readFileSync(file)
  })

  after(() => running.end())

  /** Restores these bytes into a new folder and expects a refusal that leaves nothing behind. */
  async function refused(bytes: Uint8Array, sentence: RegExp): Promise<void> {
    const { openBackup, restoreBackup } = await import('../../daemon/maintenance/index.ts')
    const damaged = place('damaged.tar')
    writeFileSync(damaged, bytes)
    const folder = place('store')
    const restoring = restoreBackup(openBackup(damaged), {
      folder,
      replace: false,
      incomplete: false,
      now: new Date(0),
    })
    await assert.rejects(restoring, (error: Error) => {
      assert.equal(error.name, 'BackupRefused', error.stack)
      assert.match(error.message, sentence)
      return true
    })
    assert.ok(!existsSync(folder))
  }

  test('refuses a backup that was cut short, wherever it was cut', async () => {
    for (let part = 0; part < 8; part++)
      await refused(backup.subarray(0, Math.floor((backup.length * part) / 8)), /cut short|not a backup/)
    await refused(backup.subarray(0, backup.length - 2048), /cut short|damaged/)
  })

  test('refuses a backup with a changed byte, in every file of it', async () => {
    const names = (await unpackTar(backup)).map(({ header }) => header.name)
    assert.ok(names.includes('state.json') && names.includes('journal.ndjson') && names.includes('secret'))
    for (const name of names) {
      const changed = Buffer.from(backup)
      // The header of an entry begins with its name; the content follows after 512 bytes.
      const at = changed.indexOf(`${name}\0`) + 512 + 5
      changed[at] = changed[at]! ^ 1
      await refused(changed, /damaged|not a backup|newer/)
    }
  })

  test('refuses a backup with a changed byte between the files, in a header, or around a checksum', async () => {
    const entries = await unpackTar(backup)
    for (const { header } of entries) {
      const start = backup.indexOf(`${header.name}\0`)
      const end = start + 512 + header.size
      const paddingEnd = end + (-header.size & 511)
      const places = [start + 99, start + 140, start + 154, start + 155, start + 511, paddingEnd - 1]
      if (end < paddingEnd) places.push(end)
      // Its own file says when it was made; the last line of the list is its checksum.
      places.push(end - 2, end - 1)
      for (const at of places) {
        const changed = Buffer.from(backup)
        changed[at] = changed[at]! ^ 1
        await refused(changed, /damaged|not a backup|newer/)
      }
    }
    const longer = Buffer.concat([backup, Buffer.alloc(512)])
    longer[longer.length - 1] = 1
    await refused(longer, /damaged/)
  })

  test('refuses a backup that lacks an upload, unless it is told to; --check names the file', async t => {
    const data = place('store')
    const first = await host(data)
    await upload(first)
    await first.end()
    const name = `files/${readdirSync(join(data, 'files'))[0]}`
    rmSync(join(data, name))
    const lacking = place('natter.tar')
    assert.equal((await natter(t, 'backup', lacking, '--data', data, '--incomplete')).code, 0)
    const checked = await natter(t, 'restore', lacking, '--check')
    assert.equal(checked.code, 1)
    assert.match(checked.stderr, /is not complete/)
    assert.doesNotMatch(checked.stderr, /is good/)
    assert.equal(checked.stdout, `${name}: is missing; an upload, avatar, emoji or export needs it\n`)
    const json = await natter(t, 'restore', lacking, '--check', '--json')
    assert.equal(json.code, 1)
    assert.deepEqual(JSON.parse(json.stdout).missing.length, 1)
    const target = place('store')
    const refusal = await natter(t, 'restore', lacking, '--data', target)
    assert.equal(refusal.code, 1)
    assert.match(refusal.stderr, /the backup is not complete: files\/.* is missing.*add --incomplete/)
    assert.equal((await natter(t, 'restore', lacking, '--data', target, '--incomplete')).code, 0)
    await startDaemon(t, { data: target })
  })

  test('refuses a backup of a newer format, and says which version made it', async () => {
    const entries = await unpackTar(backup)
    const head = { natter: 'backup', format: 99, version: '42.0.0', made: '' }
    const changed = entries.map(({ header, data }) => {
      const body = header.name === 'natter-backup.json' ? Buffer.from(JSON.stringify(head)) : data!
      return { header: { ...header, size: body.length }, body }
    })
    await refused(await packTar(changed), /natter 42\.0\.0 made this backup in format 99; this natter reads format 1/)
  })

  test('refuses what is not a backup: text, nothing, another archive, names that lead elsewhere', async () => {
    await refused(Buffer.from('hello'), /not a backup/)
    await refused(Buffer.alloc(0), /not a backup/)
    await refused(await packTar([{ header: { name: 'a.txt', size: 1 }, body: 'a' }]), /not a backup/)
    const entries = await unpackTar(backup)
    const [head, ...rest] = entries.map(({ header, data }) => ({ header, body: data! }))
    const planted = { header: { name: '../planted', size: 1 }, body: Buffer.from('x') }
    await refused(await packTar([head!, planted, ...rest]), /holds "\.\.\/planted", which no store has/)
  })

  test('refuses a backup with an entry twice, whichever it is', async () => {
    const entries = (await unpackTar(backup)).map(({ header, data }) => ({ header, body: data! }))
    for (const entry of entries) {
      const place = entry.header.name === 'natter-manifest.json' ? entries.length : 1
      const doubled = await packTar(entries.toSpliced(place, 0, entry))
      await refused(doubled, /the backup is damaged: it holds "[\w./-]+" more than once/)
    }
  })

  test('refuses a list of files that lists something else', async () => {
    const entries = (await unpackTar(backup)).map(({ header, data }) => ({ header, body: data! }))
    const body = Buffer.from(manifestText({ position: 1, files: [null as never] }))
    const header = { name: 'natter-manifest.json', size: body.length }
    await refused(
      await packTar(entries.toSpliced(-1, 1, { header, body } as never)),
      /its list of files does not match/,
    )
  })

  test('refuses the folder of a daemon that runs', async t => {
    const { code, stderr } = await natter(t, 'restore', file, '--data', running.data, '--replace')
    assert.equal(code, 1)
    assert.match(stderr, /is in use by another natterd \(process \d+ at http.*\); stop it first/)
    await say(running, 'still works')
  })

  test('moves a store out of the way only when asked to', async t => {
    const data = place('store')
    const first = await host(data)
    await first.stop()
    const refusal = await natter(t, 'restore', file, '--data', data)
    assert.equal(refusal.code, 1)
    assert.match(refusal.stderr, /has a store; add --replace to move it/)
    const restored = await natter(t, 'restore', file, '--data', data, '--replace', '--json')
    assert.equal(restored.code, 0, restored.stderr)
    const { replaced } = JSON.parse(restored.stdout)
    assert.ok(existsSync(join(replaced, 'journal.ndjson')), 'the old store is kept')
    const other = await startDaemon(t, { data })
    assert.ok((await contentsOf(other)).includes('kept too'))
  })

  test('refuses the folder of a daemon of a cluster, whatever it holds, and names the way', async t => {
    const data = place('store')
    mkdirSync(data, { recursive: true })
    writeFileSync(join(data, 'cluster.json'), '{"cluster":"x","name":"natter","member":"y"}')
    for (const flags of [[], ['--replace']]) {
      const { code, stderr } = await natter(t, 'restore', file, '--data', data, ...flags)
      assert.equal(code, 1)
      assert.match(stderr, /belongs to a cluster.*natter cluster restore/)
    }
    assert.deepEqual(
      readdirSync(data).filter(name => name !== 'lock'),
      ['cluster.json'],
    )
  })

  test('that was interrupted keeps a daemon from starting, until it is done again', async t => {
    const data = place('store')
    mkdirSync(join(data, restoringName()), { recursive: true })
    const isRefused = () =>
      assert.rejects(
        host(data),
        /a restore into it was interrupted, or has not ended; if it was interrupted, run `natter restore` again, with --replace/,
      )
    await isRefused()
    const cut = place('cut.tar')
    writeFileSync(cut, readFileSync(file).subarray(0, 3000))
    assert.equal((await natter(t, 'restore', cut, '--data', data, '--replace')).code, 1)
    await isRefused()
    assert.equal((await natter(t, 'restore', file, '--data', data, '--replace')).code, 0)
    const other = await startDaemon(t, { data })
    assert.ok((await contentsOf(other)).includes('kept'))
  })

  test('with --check restores nothing', async t => {
    const data = place('store')
    const { code, stderr } = await natter(t, 'restore', file, '--data', data, '--check')
    assert.equal(code, 0)
    assert.match(stderr, /the backup of 1970-01-01T00:00:00\.000Z, by natter .*, is good/)
    assert.ok(!existsSync(data))
  })
})
