// Lines of a batch that name files.

import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { accountAt, newShell } from '../support/cli.ts'
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
