// Lines of a batch that name files.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { accountAt, fakeServer, json, newShell, Watched } from '../support/cli.ts'
import { sharedDaemon } from '../support/daemon.ts'

const daemon = sharedDaemon()

test('a batch uploads the files that its lines name, before the line is sent', async t => {
  const { url, ready } = daemon()
  const shell = newShell(t, accountAt(url, ready.owner.email, ready.owner.api_key))
  const { home } = shell
  const natter = async (...args: string[]) => {
    const { code, stdout, stderr } = await shell.run(args)
    assert.equal(code, 0, stderr)
    return stdout.trimEnd()
  }
  const content = async (id: string) => JSON.parse(await natter('messages', 'show', id, '--json')).message.content
  const report = join(home, 'the first report.txt')
  writeFileSync(report, 'all is well')
  await natter('channels', 'create', 'general')
  const batch = async (name: string, text: string, ...args: string[]) => {
    writeFileSync(join(home, name), text)
    const { code, stdout } = await shell.run([...args, '--batch', join(home, name)])
    return { code, results: stdout.split('\n').flatMap(line => (line === '' ? [] : [JSON.parse(line)])) }
  }
  const stored = async (text: string) => {
    const texts = []
    for (const [path] of text.matchAll(/\/user_uploads\/[^)\s]+/g)) {
      await natter('uploads', 'download', path, '-o', join(home, 'back'), '--yes')
      texts.push(readFileSync(join(home, 'back'), 'utf8'))
    }
    return texts
  }
  const other = join(home, 'other.txt')
  writeFileSync(other, 'and more')

  const csv = await batch('rows.csv', `place,content,file\n#general>files,one,${other}\n#general>files,two,\n`, 'send')
  assert.equal(csv.code, 0)
  assert.deepEqual(await stored(await content(String(csv.results[0].id))), ['and more'])
  assert.equal(await content(String(csv.results[1].id)), 'two')
  const many = JSON.stringify({ content: 'three', file: [report, other] })
  const both = await batch('lines', many, 'send', '#general>files', '--resume', join(home, 'lines.state'))
  assert.deepEqual(await stored(await content(String(both.results[0].id))), ['all is well', 'and more'])

  const before = await natter('uploads', 'list', '--json')
  const lost = JSON.stringify({ content: 'four', file: [other, join(home, 'nothing')] })
  const { code, results } = await batch('lost', lost, 'send', '#general>files')
  assert.equal(code, 1)
  assert.match(results[0].msg, /^--file: cannot read .*nothing: ENOENT$/)
  assert.equal(await natter('uploads', 'list', '--json'), before)
  const wrong = await batch('wrong', '{"content":"five","file":7}', 'send', '#general>files')
  assert.equal(wrong.results[0].msg, '"file" must be the name of a file, or a list of names')

  const created = await batch('create', JSON.stringify({ file: report }), 'uploads', 'create')
  assert.deepEqual(await stored(created.results[0].url), ['all is well'])
})

/** A server that only counts the files it gets, and the messages. */
async function counter(t: TestContext, onFile = (_body: string) => {}) {
  const got = { files: 0, texts: [] as string[] }
  const url = await fakeServer(t, (request, response, body) => {
    if (request.url!.endsWith('/user_uploads')) {
      onFile(body)
      got.files++
      return json(response, { result: 'success', url: `/user_uploads/1/${got.files}` })
    }
    got.texts.push(String(new URLSearchParams(body).get('content')))
    json(response, { result: 'success', id: 7 })
  })
  return { got, shell: newShell(t, accountAt(url)) }
}

test('a line that names a pipe is refused, and keeps nothing waiting', { timeout: 60_000 }, async t => {
  const { got, shell } = await counter(t)
  const [file, pipe] = [join(shell.home, 'lines'), join(shell.home, 'pipe')]
  execFileSync('mkfifo', [pipe])
  for (const [args, line] of [
    [['send', '#general>files'], { content: 'one', file: pipe }],
    [['uploads', 'create'], { file: pipe }],
  ] as const) {
    writeFileSync(file, JSON.stringify(line))
    const { lines, ended } = new Watched(t, shell.spawn([...args, '--batch', file]))
    assert.equal(await ended, 1)
    assert.match(JSON.parse(lines[0]!).msg, /: cannot read .*pipe: it is not a plain file$/)
  }
  assert.deepEqual(got, { files: 0, texts: [] })
})

test('files of a message are read one by one, so that memory holds one of them', async t => {
  const bodies: string[] = []
  const { got, shell } = await counter(t, body => {
    bodies.push(body)
    writeFileSync(second, 'written after the first was sent')
  })
  const [first, second] = [join(shell.home, 'first'), join(shell.home, 'second')]
  for (const path of [first, second]) writeFileSync(path, 'as it was')
  const { code, stderr } = await shell.run(['send', '#general>files', '--file', first, '--file', second])
  assert.equal(code, 0, stderr)
  assert.deepEqual(got.texts, ['[first](/user_uploads/1/1)\n[second](/user_uploads/1/2)'])
  assert.match(bodies[1]!, /written after the first was sent/)
})

test('more files than a message can share are refused before one is uploaded', async t => {
  const { got, shell } = await counter(t)
  const [file, report] = [join(shell.home, 'lines'), join(shell.home, 'report.txt')]
  writeFileSync(report, 'all is well')
  const refusal = 'a message shares at most 100 files; 101 were given'
  writeFileSync(file, JSON.stringify({ content: 'one', file: Array(101).fill(report) }))
  const batch = await shell.run(['send', '#general>files', '--batch', file])
  assert.equal(JSON.parse(batch.stdout).msg, refusal)
  const send = await shell.run(['send', '#general>files', ...Array(101).fill(['--file', report]).flat()])
  assert.equal(send.code, 2)
  assert.ok(send.stderr.includes(refusal), send.stderr)
  assert.deepEqual(got, { files: 0, texts: [] })
})
