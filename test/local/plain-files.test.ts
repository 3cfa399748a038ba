// Folders of a stranger that have links in them: a store, an export, kept runs. Nothing outside of them is written, cut or deleted.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  watch,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, type TestContext, test } from 'node:test'
import { users } from '../../daemon/api/people/users.ts'
import { prepareFolder } from '../../daemon/journal/store-folder.ts'
import { makeFolderInside, openPlainSync, whyNotPlain } from '../../daemon/local/plain-files.ts'
import { shellWord } from '../../daemon/local/shell-word.ts'
import { accountAt, fakeServer, json, natterCommand, newShell, type Shell } from '../support/cli.ts'
import { host, sharedDaemon, startDaemon } from '../support/daemon.ts'
import { givesUp, refusal } from '../support/gives-up.ts'
import { uploadText } from '../support/upload-traffic.ts'

const root = mkdtempSync(join(tmpdir(), 'natter-links-'))
after(() => rmSync(root, { recursive: true, force: true }))

const newFolder = () => mkdtempSync(join(root, 'folder-'))
const read = (path: string) => readFileSync(path, 'utf8')

/** Of a daemon that has stopped. */
async function newStore(content?: string): Promise<string> {
  const data = newFolder()
  const daemon = await host(data)
  if (content) await uploadText(daemon.owner, content)
  await daemon.stop()
  return data
}

describe('a store with a link in it', () => {
  test('is refused, whatever folder of the user the link leads to', async () => {
    const data = await newStore()
    const names = ['report.txt', '000001.1.segment', 'a.eml', 'a'.repeat(64)]
    for (const part of ['files', 'messages', 'outbox']) {
      const documents = newFolder()
      for (const name of names) writeFileSync(join(documents, name), 'mine')
      rmSync(join(data, part), { recursive: true, force: true })
      symlinkSync(documents, join(data, part))
      assert.match(
        await refusal(data),
        new RegExp(`cannot hold the store: "${part}" is a link; move what it leads to into`),
      )
      assert.deepEqual(readdirSync(documents).sort(), [...names].sort())
      rmSync(join(data, part))
    }
    const daemon = await host(data)
    await daemon.owner.call(users.me, {})
    await daemon.stop()
  })

  test('is refused, whatever file of the user it is: the journal of another store too', async t => {
    const { data: real } = await startDaemon(t)
    const shell = newShell(t)
    const before = read(join(real, 'journal.ndjson'))
    for (const name of ['journal.ndjson', 'secret', 'lock', 'daemon.json', 'anything']) {
      const theirs = newFolder()
      writeFileSync(join(theirs, 'state.json'), '{}')
      symlinkSync(join(real, name), join(theirs, name))
      const reason = new RegExp(`"${name}" is a link`)
      assert.match(await refusal(theirs), reason)
      for (const command of [
        ['store', 'check'],
        ['store', 'stats'],
        ['backup', join(shell.home, 'a.tar')],
      ]) {
        const { code, stderr } = await shell.run([...command, '--data', theirs])
        assert.equal(code, 1, stderr)
        assert.match(stderr, reason)
      }
      const restored = await shell.run(['restore', join(real, 'journal.ndjson'), '--replace', '--data', theirs])
      assert.match(restored.stderr, reason)
    }
    assert.equal(read(join(real, 'journal.ndjson')), before)
    assert.deepEqual(readdirSync(shell.home), [])
  })

  test('is refused before its log is written', async t => {
    const shell = newShell(t)
    const [theirs, mine] = [join(shell.home, 'theirs'), join(shell.home, 'mine')]
    mkdirSync(theirs)
    writeFileSync(mine, '# mine\n')
    symlinkSync('../mine', join(theirs, 'daemon.log'))
    writeFileSync(join(theirs, 'journal.ndjson'), '{"natter":"journal","format":"$(touch x)","after":0}\n')
    for (const verb of ['start', 'logs']) {
      const { code, stderr, stdout } = await shell.run(['daemon', verb, '--data', theirs])
      assert.equal(code, 1)
      assert.match(stderr, /daemon\.log"? is a link/)
      assert.doesNotMatch(stdout, /# mine/)
    }
    assert.equal(read(mine), '# mine\n')
  })

  test('is not written through by the file that tries whether the folder can be written to', async () => {
    const [data, mine] = [newFolder(), join(newFolder(), 'mine')]
    writeFileSync(mine, 'mine')
    symlinkSync(mine, join(data, `.probe-${process.pid}`))
    await assert.rejects(prepareFolder(data), /\.probe-\d+" is a link/)
    assert.equal(read(mine), 'mine')
  })

  test('can itself be one, which the user has named', async () => {
    const data = await newStore()
    const link = join(newFolder(), 'link')
    symlinkSync(data, link)
    const daemon = await host(link)
    await daemon.stop()
  })
})

describe('a store with something in its folders that is no file', { skip: process.platform === 'win32' }, () => {
  test('does not keep a check or a backup waiting, and gives no file of the user to it', async t => {
    const data = await newStore('precious')
    const shell = newShell(t)
    const secret = join(shell.home, 'id_rsa')
    writeFileSync(secret, 'private')
    mkdirSync(join(data, 'outbox'), { recursive: true })
    const mail = join(data, 'outbox', '1-b2b5a0ad-3a44-4b5e-9d47-0b8f5a9b1c11.eml')
    const upload = join(data, 'files', readdirSync(join(data, 'files'))[0]!)
    for (const path of [mail, upload])
      for (const isPipe of [false, true]) {
        rmSync(path, { force: true })
        if (isPipe) execFileSync('mkfifo', [path])
        else symlinkSync(secret, path)
        // A pipe would keep this process waiting, too.
        const natter = (...args: string[]) => (isPipe ? shell.natter(args) : shell.run(args))
        const checked = await natter('store', 'check', '--data', data)
        assert.match(checked.stdout + checked.stderr, /is a link, a pipe or a device; put a plain file there/)
        const backup = await natter('backup', 'a.tar', '--data', data, '--incomplete')
        assert.equal(backup.code, 1, backup.stderr)
        assert.match(backup.stderr, /is a link, a pipe or a device/)
      }
    for (const path of [mail, upload]) rmSync(path)
    symlinkSync(secret, upload)
    const daemon = await host(data)
    await uploadText(daemon.owner, 'precious')
    await daemon.stop()
    // What was planted under the name of an upload does not take its place.
    assert.deepEqual([read(upload), read(secret)], ['precious', 'private'])
    execFileSync('mkfifo', [join(data, 'pipe')])
    givesUp(['--data', data], 1, /"pipe" is a pipe, a socket or a device; remove it/)
  })
})

describe('an export into a folder with links in it', () => {
  const daemon = sharedDaemon({ flags: ['--memory', '--preset', 'dev'] })

  const open = (t: TestContext): { shell: Shell; order: string } => {
    const { url, ready } = daemon()
    const shell = newShell(t, accountAt(url, ready.owner.email, ready.owner.api_key))
    const order = { site: url, account: ready.owner.email, flags: {}, since: null, until: null }
    return { shell, order: JSON.stringify(order) }
  }

  test('is refused', async t => {
    const { shell, order } = open(t)
    const mine = join(shell.home, 'mine')
    writeFileSync(mine, 'no newline')
    for (const [name, leadsTo] of [
      ['messages.ndjson', mine],
      ['messages.ndjson', join(shell.home, 'new')],
      ['messages.md.part', mine],
      ['messages.md.part', join(shell.home, 'new')],
      ['files', shell.home],
    ] as const)
      for (const isBegun of [true, false]) {
        const folder = join(shell.home, 'export')
        mkdirSync(folder)
        symlinkSync(leadsTo, join(folder, name))
        if (isBegun) writeFileSync(join(folder, 'export.json'), order)
        const { code, stderr } = await shell.run(['messages', 'export', folder, '--format', 'md'])
        assert.equal(code, 2, stderr)
        assert.match(stderr, /cannot hold an export: "[\w.]+" is a link/)
        rmSync(folder, { recursive: true })
      }
    assert.equal(read(mine), 'no newline')
    assert.deepEqual(readdirSync(shell.home), ['mine'])
  })

  /** A server with one message. */
  const serve = (t: TestContext, onMessages = () => {}) =>
    fakeServer(t, ({ url }, response) => {
      if (!url!.startsWith('/api/v1/messages')) return json(response, { result: 'success' })
      onMessages()
      const message = { id: 7, timestamp: 1, display_recipient: 'general', content: 'planted' }
      json(response, { result: 'success', messages: [message], found_newest: true })
    })

  test('writes behind none that appears meanwhile', async t => {
    for (const name of ['messages.ndjson', 'messages.md.part']) {
      const folder = newFolder()
      const mine = join(newFolder(), 'mine')
      writeFileSync(mine, 'no newline')
      const plant = () => existsSync(join(folder, name)) || symlinkSync(mine, join(folder, name))
      // The folder is looked at before export.json is written.
      const isLookedAt = () => readdirSync(folder).some(found => found.startsWith('export.json'))
      const watcher = watch(folder, () => isLookedAt() && plant())
      t.after(() => watcher.close())
      const url = await serve(t, () => isLookedAt() && plant())
      const shell = newShell(t, accountAt(url, 'amy@example.com', 'k'.repeat(32)))
      const { stderr } = await shell.natter(['messages', 'export', folder, '--format', 'md'])
      watcher.close()
      assert.equal(read(mine), 'no newline', stderr)
    }
  })

  const cannotChown = process.getuid?.() !== 0
  test('that belongs to another user is refused', {
    skip: cannotChown && 'only root can give a folder away',
  }, async t => {
    const shell = newShell(t, accountAt(await serve(t), 'amy@example.com', 'k'.repeat(32)))
    const folder = newFolder()
    chownSync(folder, 65_534, 65_534)
    const { code, stderr } = await shell.run(['messages', 'export', folder])
    assert.equal(code, 2, stderr)
    assert.match(stderr, /belongs to another user/)
    assert.deepEqual(readdirSync(folder), [])
  })

  test('saves no file behind a link', async t => {
    const { shell } = open(t)
    const uri = await uploadText(daemon().owner, 'report')
    assert.equal((await shell.run(['send', '#general>files', `[a](${uri})`])).code, 0)
    const [folder, outside] = [join(shell.home, 'export'), join(shell.home, 'outside')]
    mkdirSync(join(folder, 'files'), { recursive: true })
    mkdirSync(outside)
    symlinkSync(outside, join(folder, 'files', uri.split('/')[2]!))
    const { code, stderr } = await shell.run(['messages', 'export', folder])
    assert.equal(code, 0, stderr)
    assert.match(stderr, /skipped \/user_uploads\/\S+ of message \d+: cannot write \S+: EEXIST/)
    assert.deepEqual(readdirSync(outside), [])
  })
})

describe('what natter keeps', () => {
  test('of a case of natter eval is not written through links', async t => {
    const shell = newShell(t)
    const mine = join(shell.home, 'mine')
    mkdirSync(join(shell.home, 'cases'))
    writeFileSync(join(shell.home, 'cases/one.yaml'), 'task: nothing\nexpect: {}\n')
    writeFileSync(mine, 'mine')
    const evaluate = () => shell.natter(['eval', 'cases', '--keep', 'kept', '--threshold', '0', '--', 'true'])
    assert.equal((await evaluate()).code, 0)
    const place = join(shell.home, 'kept/one-1')
    for (const name of ['transcript.txt', 'difference.json']) {
      rmSync(join(place, name))
      symlinkSync(mine, join(place, name))
    }
    assert.equal((await evaluate()).code, 0)
    assert.equal(read(mine), 'mine')
    assert.ok(lstatSync(join(place, 'transcript.txt')).isFile())
    rmSync(place, { recursive: true })
    mkdirSync(join(shell.home, 'outside'))
    symlinkSync('../outside', place)
    const refused = await evaluate()
    assert.equal(refused.code, 2)
    assert.match(refused.stderr, /--keep: kept\/one-1 is a link\n {2}Choose another folder\./)
    assert.deepEqual(readdirSync(join(shell.home, 'outside')), [])
  })

  test('of spaces is neither written nor deleted behind a link', async t => {
    const shell = newShell(t)
    const create = `${natterCommand.map(shellWord).join(' ')} spaces create one --json; exit 5`
    const run = (folder: string) => shell.natter(['exec', '--on-failure', folder, '--', 'sh', '-c', create])
    assert.equal((await run('mine')).code, 5)
    const kept = () => readdirSync(join(shell.home, 'mine/spaces/one')).sort()
    const before = kept()
    assert.ok(before.includes('snapshot.json'))
    cpSync(join(shell.home, 'mine'), join(shell.home, 'theirs'), { recursive: true })
    rmSync(join(shell.home, 'theirs/spaces'), { recursive: true })
    symlinkSync('../mine/spaces', join(shell.home, 'theirs/spaces'))
    const { stderr } = await run('theirs')
    assert.match(stderr, /theirs\/spaces is a link or a file; put a folder there/)
    assert.deepEqual(kept(), before)
  })
})

describe('natter init', () => {
  test('writes nothing behind a link of the project', async t => {
    const shell = newShell(t)
    const outside = newFolder()
    symlinkSync(outside, join(shell.home, '.github'))
    const { code, stderr } = await shell.run(['init', 'github'])
    assert.equal(code, 1)
    assert.match(stderr, /\.github is a link or a file; put a folder there/)
    assert.deepEqual(readdirSync(outside), [])
  })
})

describe('plain files', () => {
  test('are opened and made, and anything else is named', () => {
    const folder = newFolder()
    assert.equal(whyNotPlain(folder), undefined)
    assert.throws(() => openPlainSync(join(folder, 'none')), { code: 'ENOENT' })
    assert.throws(() => openPlainSync(folder), /put a plain file there/)
    makeFolderInside(folder, join(folder, 'a/b'))
    makeFolderInside(folder, join(folder, 'a/b'))
    makeFolderInside(folder, folder)
    assert.ok(existsSync(join(folder, 'a/b')))
    const link = join(newFolder(), 'link')
    symlinkSync(folder, link)
    makeFolderInside(link, join(link, 'c'))
    assert.equal(realpathSync(join(link, 'c')), join(realpathSync(folder), 'c'))
    assert.throws(() => makeFolderInside('/', '/proc/none'), { code: 'ENOENT' })
  })
})
