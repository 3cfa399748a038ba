// `natter store check` and `natter store stats`: what is wrong with a store, and what it holds.

import assert from 'node:assert/strict'
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, type TestContext, test } from 'node:test'
import { messages } from '../../daemon/api/messages/messages.ts'
import { FileJournal } from '../../daemon/journal/file-journal.ts'
import { openSnapshots } from '../../daemon/journal/snapshots.ts'
import { newShell } from '../support/cli.ts'
import { host, launch, startDaemon } from '../support/daemon.ts'
import { registration } from '../support/in-process.ts'

let scratch: string
let original: string

before(async () => {
  scratch = mkdtempSync(join(tmpdir(), 'natter-check-'))
  original = mkdtempSync(join(scratch, 'original-'))
  const daemon = await launch(original, { flags: ['--preset', 'dev'] })
  const say = (content: string) =>
    daemon.owner.call(messages.send, { type: 'direct', to: [daemon.ready.owner.user_id], content })
  await say('in the snapshot')
  const body = '--b\r\nContent-Disposition: form-data; name="f"; filename="a.txt"\r\n\r\nHello\r\n--b--\r\n'
  const form = { body, headers: { 'Content-Type': 'multipart/form-data; boundary=b' } }
  assert.equal((await daemon.owner.raw('POST', '/api/v1/user_uploads', form)).body.result, 'success')
  await daemon.compact()
  for (const content of ['one', 'two', 'three']) await say(content)
  // As after a crash: `stop` would compact.
  await daemon.kill()
})

after(() => rmSync(scratch, { recursive: true, force: true }))

function copy(): string {
  const folder = mkdtempSync(join(scratch, 'case-'))
  cpSync(original, folder, { recursive: true })
  return folder
}

function edit(folder: string, name: string, change: (text: string) => string): void {
  const path = join(folder, name)
  writeFileSync(path, change(readFileSync(path, 'latin1')), 'latin1')
}

function markEdited(text: string): string {
  return text.replace(/"sums": ?\{.*\}\s*\}\s*$/s, '"sums":"edited"}\n')
}

async function check(t: TestContext, folder: string) {
  const { code, stdout } = await newShell(t).run(['store', 'check', '--data', folder, '--json'])
  return { code, ...JSON.parse(stdout) } as {
    code: number
    ok: boolean
    position: number
    problems: { file: string; line?: number; message: string }[]
    notes: string[]
  }
}

describe('natter store check', () => {
  test('finds nothing wrong with a good store, and changes nothing', async t => {
    const folder = copy()
    const before = readdirSync(folder, { recursive: true }).sort()
    const { code, stdout } = await newShell(t).run(['store', 'check', '--data', folder])
    assert.equal(code, 0)
    assert.match(stdout, /^ok: \d+ files, .*, journal up to position \d+, in use, or not stopped cleanly\n$/)
    assert.deepEqual(readdirSync(folder, { recursive: true }).sort(), before)
  })

  test('names file and line of everything that is damaged, not only of the first', async t => {
    const folder = copy()
    edit(folder, 'journal.ndjson', text => text.replace('"two"', '"2wo"'))
    edit(folder, 'state.json', text => text.replace('in the snapshot', 'in the snapshut'))
    const upload = `files/${readdirSync(join(folder, 'files'))[0]}`
    edit(folder, upload, () => 'Hullo')
    const { code, ok, problems } = await check(t, folder)
    assert.equal(code, 1)
    assert.equal(ok, false)
    assert.deepEqual(
      problems.map(({ file }) => file),
      ['state.json', 'journal.ndjson', upload],
    )
    const lines = readFileSync(join(folder, 'journal.ndjson'), 'utf8').split('\n')
    assert.equal(problems[1]!.line, lines.findIndex(line => line.includes('"2wo"')) + 1)
  })

  test('reports a snapshot whose first line is damaged', async t => {
    const folder = copy()
    edit(folder, 'state.json', text => text.replace('"position":', '"position":x'))
    const { code, problems } = await check(t, folder)
    assert.equal(code, 1)
    assert.deepEqual(
      problems.map(({ file, line }) => [file, line]),
      [['state.json', 1]],
    )
  })

  test('reports an upload that is missing', async t => {
    const folder = copy()
    const name = readdirSync(join(folder, 'files'))[0]!
    rmSync(join(folder, 'files', name))
    const { problems } = await check(t, folder)
    assert.deepEqual(
      problems.map(({ file }) => file),
      [`files/${name}`],
    )
  })

  test('reports a secret that is not the one of the store', async t => {
    const folder = copy()
    writeFileSync(join(folder, 'secret'), 'another secret altogether, for once')
    const { problems } = await check(t, folder)
    assert.deepEqual(
      problems.map(({ file }) => file),
      ['secret'],
    )
  })

  test('reports a file of messages that does not match the snapshot, and a journal that does not reach back', async t => {
    const folder = mkdtempSync(join(scratch, 'segments-'))
    const files = [{ name: 'first', pieces: () => [Buffer.from('content')] }]
    await openSnapshots(folder).write({ format: 3, position: 5, time: 0, sections: {}, files })
    const journal = await FileJournal.open({ folder, durability: 'os', startAfter: 5 })
    await journal.close()
    writeFileSync(join(folder, 'messages/first'), 'cantent')
    assert.deepEqual((await check(t, folder)).problems, [
      { file: 'messages/first', message: 'messages/first: does not match its checksum in state.json' },
    ])
    writeFileSync(join(folder, 'messages/first'), 'short')
    assert.deepEqual((await check(t, folder)).problems, [
      { file: 'messages/first', message: 'messages/first: has 5 bytes, but 7 were written' },
    ])
    writeFileSync(join(folder, 'journal.ndjson'), '{"natter":"journal","format":1,"after":9}\n')
    assert.deepEqual((await check(t, folder)).problems, [
      {
        file: 'journal.ndjson',
        line: 1,
        message: 'journal.ndjson, line 1: begins after position 9, but the entries after 5 are needed',
      },
    ])
  })

  test('names the row of an edited snapshot that cannot be used, and so does a start', async t => {
    const edits: [change: (text: string) => string, words: RegExp][] = [
      [text => text.replace(/"settings":\{[^{}]*\}/, '"settings":null'), /settings: must be an object/],
      [text => text.replace(/"id":\d+(,"senderId")/, '"id":-1$1'), /messages, row 2: id: must be an integer from 1 to/],
      [
        text => text.replace(/"id":\d+(,"senderId")/, '"id":1e15$1'),
        /messages, row 2: id: must be an integer from 1 to/,
      ],
      [text => text.replace(/"senderId":\d+/, '"senderId":999'), /senderId: there is no user 999/],
    ]
    for (const [change, words] of edits) {
      const folder = copy()
      edit(folder, 'state.json', text => markEdited(change(text)))
      const { code, problems } = await check(t, folder)
      assert.equal(code, 1)
      assert.match((problems[0] as unknown as { message: string }).message, words)
      await assert.rejects(host(folder), words)
    }
    const untouched = copy()
    edit(untouched, 'state.json', markEdited)
    assert.equal((await check(t, untouched)).code, 0)
    const daemon = await host(untouched)
    await daemon.stop()
  })

  test('names the row of a whole state in the journal that cannot be used', async t => {
    const folder = copy()
    const journal = await FileJournal.open({ folder, durability: 'os' })
    const users = [{ last_id: 1 }, { id: -1 }]
    await journal.append({
      time: 0,
      op: 'restore',
      actor: null,
      facts: [{ type: 'store.restored', sections: { users } }],
    }).durable
    await journal.close()
    const { code, problems } = await check(t, folder)
    assert.equal(code, 1)
    assert.match(JSON.stringify(problems), /cannot be applied: users, row 2: \w+: must be/)
  })

  test('ends with a sentence for facts in the journal that no daemon wrote', async t => {
    const facts = [
      {
        type: 'subscription.added',
        added: [{ channelId: 1, returning: [], fresh: 'not a record', gained: [] }],
        after: 0,
      },
      { type: 'queue.registered', queue: 5 },
      { type: 'message-flags.changed', userId: 2, set: 'read', op: 'add', runs: [1, 1e15] },
      { type: 'message.sent', message: { id: 1.5, senderId: 2, conversationId: 1, time: 0, content: '', html: '' } },
      { type: 'draft.edited' },
      { type: 'drafts.added', drafts: null },
      { type: '__proto__' },
      null,
      7,
    ]
    for (const fact of facts) {
      const folder = copy()
      const journal = await FileJournal.open({ folder, durability: 'os' })
      await journal.append({ time: 0, op: 'test', actor: null, facts: [fact] }).durable
      await journal.close()
      const { code, problems } = await check(t, folder)
      assert.equal(code, 1, JSON.stringify(fact))
      const message = problems[0]!.message
      assert.match(message, /^journal\.ndjson, line 5: the fact ("[\w.-]+"|null|7) cannot be applied: /)
      assert.doesNotMatch(message, /undefined|Cannot|is not a|NaN/)
    }
  })

  test('a row of another form in an edited journal is refused by a backup, and named by a start that fails', async t => {
    const edited = async (wrong: object) => {
      const folder = copy()
      rmSync(join(folder, 'daemon.json'), { force: true })
      const journal = await FileJournal.open({ folder, durability: 'os' })
      const row = { userId: 2, channelId: 1, topic: 't', policy: 3, updated: 0, ...wrong }
      await journal.append({ time: 0, op: 'test', actor: null, facts: [{ type: 'user-topic.set', row }] }).durable
      await journal.close()
      return folder
    }
    // Only a look at the row shows it.
    const made = await newShell(t).run(['backup', 'b.tar', '--data', await edited({ policy: 'x' })])
    assert.equal(made.code, 1, made.stderr)
    assert.match(made.stderr, /the store is damaged: userTopics, row \d+: policy/)
    await assert.rejects(
      host(await edited({ topic: 7 })),
      /entry \d+ of the journal cannot be applied; run natter store check/,
    )
  })

  test('a row of another form is refused by every start, where the journal was edited after a clean stop', async t => {
    const folder = copy()
    const journal = await FileJournal.open({ folder, durability: 'os' })
    const row = { userId: 99, channelId: 1, topic: 't', policy: 3, updated: 0 }
    await journal.append({ time: 0, op: 'test', actor: null, facts: [{ type: 'user-topic.set', row }] }).durable
    await journal.close()
    const before = new Date(Date.now() - 1000)
    utimesSync(join(folder, 'clean-stop.json'), before, before)
    for (let start = 0; start < 2; start++)
      await assert.rejects(
        host(folder),
        /the journal was edited and cannot be used: userTopics, .*: userId: there is no user 99\. Undo the edit/,
      )
    const untouched = copy()
    await (await FileJournal.open({ folder: untouched, durability: 'os' })).close()
    utimesSync(join(untouched, 'clean-stop.json'), before, before)
    await startDaemon(t, { data: untouched })
  })

  test('notes a write that was not finished', async t => {
    const folder = copy()
    writeFileSync(join(folder, 'journal.ndjson'), '{"position":', { flag: 'a' })
    const { code, notes, position } = await check(t, folder)
    assert.equal(code, 0)
    assert.match(
      notes.join(),
      new RegExp(`journal.ndjson: \\d+ bytes after position ${position} are no entry: .*the next start cuts off`),
    )
  })

  test('notes a queue whose account does not exist; a daemon starts on the store and sends messages', async t => {
    const folder = copy()
    const journal = await FileJournal.open({ folder, durability: 'os' })
    const queue = { id: 'q', userId: 99, ...registration([]), allPublicStreams: true }
    await journal.append({ time: 0, op: 'test', actor: null, facts: [{ type: 'queue.registered', queue }] }).durable
    await journal.close()
    const { code, notes } = await check(t, folder)
    assert.equal(code, 0)
    assert.match(notes.join(), /event queues of accounts that do not exist: 1/)
    const daemon = await host(folder)
    try {
      const { id } = await daemon.owner.call(messages.send, {
        type: 'channel',
        to: 'general',
        topic: 't',
        content: 'x',
      })
      assert.ok(id > 0)
    } finally {
      await daemon.stop()
    }
  })

  test('says that a file of the store is missing', async t => {
    const folder = copy()
    rmSync(join(folder, 'journal.ndjson'))
    const { code, problems } = await check(t, folder)
    assert.equal(code, 1)
    assert.deepEqual(
      problems.map(({ message }) => message),
      ['journal.ndjson, line 1: the file is missing'],
    )
  })

  test('refuses a row with an ID twice in a list, and accepts times that older versions took', async t => {
    const change = async (add: (sections: Record<string, any[]>) => void) => {
      const folder = copy()
      edit(folder, 'state.json', text => {
        const document = JSON.parse(text)
        add(document.sections)
        return JSON.stringify({ ...document, sums: 'edited' })
      })
      return (await check(t, folder)).problems.map(({ message }) => message)
    }
    const [doubled] = await change(({ groups }) => {
      const group = groups!.find(({ members }) => members?.length > 0)
      group.members.push(group.members[0])
    })
    assert.match(doubled!, /^state\.json: groups, row \d+: members: has an ID twice$/)
    const draft = { id: 1, userId: 2, kind: '', to: [], topic: '', content: 'x', timestamp: 2 ** 53 - 1 }
    const old = await change(sections => {
      sections.drafts = [{ last_id: 1 }, draft]
    })
    assert.deepEqual(old, [])
  })

  test('refuses a folder that has no store', async t => {
    const { code, stderr } = await newShell(t).run(['store', 'check', '--data', join(scratch, 'nothing')])
    assert.equal(code, 3)
    assert.match(stderr, /nothing has no store/)
  })
})

describe('natter restore of a backup with rows that cannot be used', () => {
  test('is refused with the row, and leaves nothing', async t => {
    const shell = newShell(t)
    const folder = copy()
    edit(folder, 'state.json', text => markEdited(text.replace(/"id":\d+(,"senderId")/, '"id":-1$1')))
    const backup = (...flags: string[]) => shell.run(['backup', 'x.tar', '--data', folder, ...flags])
    for (const flags of [[], ['--incomplete']])
      assert.match((await backup(...flags)).stderr, /the store is damaged: -1 is not the ID/)
    // Beside a daemon nothing needs to be rebuilt for it.
    writeFileSync(join(folder, 'daemon.json'), JSON.stringify({ pid: process.pid }))
    const made = await backup('--incomplete')
    assert.equal(made.code, 0, made.stderr)
    for (const words of [['--check'], ['--data', join(scratch, 'restored')]]) {
      const { code, stderr } = await shell.run(['restore', 'x.tar', ...words])
      assert.equal(code, 1, stderr)
      assert.match(stderr, /state\.json: messages, row 2: id: must be an integer from 1 to/)
    }
    assert.ok(!existsSync(join(scratch, 'restored/state.json')))
  })
})

describe('natter backup of a store that is damaged', () => {
  test('is refused, with the place', async t => {
    const shell = newShell(t)
    const refused = async (words: RegExp, folder: string) => {
      const { code, stderr } = await shell.run(['backup', 'x.tar', '--data', folder])
      assert.equal(code, 1, stderr)
      assert.match(stderr, words)
      assert.deepEqual(readdirSync(shell.home), [])
    }
    const journal = copy()
    edit(journal, 'journal.ndjson', text => text.replace('"two"', '"2wo"'))
    await refused(
      /the store is damaged: journal\.ndjson, line \d+: .*Run `natter store check` to see everything/,
      journal,
    )
    const state = copy()
    edit(state, 'state.json', text => text.replace('in the snapshot', 'in the snapshut'))
    await refused(/the store is damaged: state\.json, line \d+: the rows of section/, state)
    const messages = mkdtempSync(join(scratch, 'segments-'))
    const files = [{ name: 'first', pieces: () => [Buffer.from('content')] }]
    await openSnapshots(messages).write({ format: 3, position: 5, time: 0, sections: {}, files })
    const log = await FileJournal.open({ folder: messages, durability: 'os', startAfter: 5 })
    await log.close()
    writeFileSync(join(messages, 'messages/first'), 'cantent')
    await refused(/the store is damaged: messages\/first does not match its checksum/, messages)
  })
})

describe('natter store stats', () => {
  test('counts what the store holds', async t => {
    const { code, stdout } = await newShell(t).run(['store', 'stats', '--data', original, '--json'])
    assert.equal(code, 0)
    const stats = JSON.parse(stdout)
    assert.equal(stats.uploads, 1)
    assert.equal(stats.bytes.uploads, 5)
    assert.ok(stats.messages >= 4 && stats.users >= 2 && stats.channels >= 1, stdout)
    assert.equal(stats.journal_entries, stats.position - stats.snapshot.position)
    const text = await newShell(t).run(['store', 'stats', '--data', original])
    assert.match(text.stdout, /^messages +\d+$/m)
    assert.match(text.stdout, /^uploads +1$/m)
    assert.match(text.stdout, /^files +1, 5 B: uploads, avatars, emoji and exports$/m)
  })
})
