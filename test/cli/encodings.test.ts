// Texts from files and from stdin: those in UTF-8 are sent as they are, others are refused with the place of the mistake.

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { accountAt, fakeServer, json, newShell } from '../support/cli.ts'

/** As a program of Windows or an old editor saves it: é is one byte. */
const latin1 = (text: string) => Buffer.from(text, 'latin1')

async function startServer(t: TestContext) {
  const sent: string[] = []
  const url = await fakeServer(t, (_, response, body) => {
    sent.push(body)
    json(response, { result: 'success', msg: '', id: 1 })
  })
  const shell = newShell(t, accountAt(url))
  const write = (name: string, content: string | Buffer) => writeFileSync(join(shell.home, name), content)
  return { sent, shell, write }
}

test('a text in another encoding is refused with its file and line, before anything is sent', async t => {
  const { sent, shell, write } = await startServer(t)
  const line = (content: string) => `{"place":"#general>x","content":"${content}"}\n`
  write('lines.ndjson', latin1(line('tea') + line('café')))
  write('unended.ndjson', latin1(line('café').trimEnd()))
  write('rows.csv', latin1('place,content\n#general>x,"a\nb"\n#general>x,café\n'))
  // As the editor of Windows saves it as "Unicode".
  write('utf16.ndjson', Buffer.from(`\ufeff${line('tea')}`, 'utf16le'))
  write('body.txt', latin1('{"x":\n"café"}'))
  const cases: readonly (readonly [readonly string[], RegExp, Buffer?])[] = [
    [['send', '--batch', 'lines.ndjson'], /^natter: --batch: lines\.ndjson: line 2 is not UTF-8$/m],
    [['send', '--batch', 'unended.ndjson'], /--batch: unended\.ndjson: line 1 is not UTF-8$/m],
    [['send', '--batch', 'rows.csv'], /--batch: rows\.csv: line 4 is not UTF-8$/m],
    [['send', '--batch', 'utf16.ndjson'], /--batch: utf16\.ndjson: line 1 is not UTF-8$/m],
    [['send', '--batch', '-'], /--batch: stdin: line 1 is not UTF-8$/m, latin1(line('café'))],
    [['send', '#general>x', '-'], /^natter: stdin: line 2 is not UTF-8$/m, latin1('tea\ncafé\n')],
    [['api', 'POST', '/x', '--input', 'body.txt'], /^natter: --input: body\.txt: line 2 is not UTF-8$/m],
    [['api', 'POST', '/x', '-F', 'x=@body.txt'], /^natter: -F: body\.txt: line 2 is not UTF-8$/m],
  ]
  for (const [args, said, input = ''] of cases) {
    const { code, stdout, stderr } = await shell.natter(args, { input })
    assert.deepEqual([code, stdout], [2, ''], `${args.join(' ')}: ${stderr}`)
    assert.match(stderr, said)
    assert.match(stderr, /Save the text as UTF-8, or convert it: iconv/)
  }
  assert.deepEqual(sent, [])
})

test('a batch is read in pieces: characters between two of them stay whole, and a line that is not UTF-8 ends it', async t => {
  const { sent, shell, write } = await startServer(t)
  // Of two, three and four bytes: wherever a piece ends, some of them are cut.
  const content = 'é€😀'.repeat(4000)
  const lines = Array.from(
    { length: 8 },
    (_, i) => `${JSON.stringify({ place: '#general>x', content: `${i}${content}` })}\n`,
  )
  write('good.ndjson', lines.join(''))
  const good = await shell.natter(['send', '--batch', 'good.ndjson', '--parallel', '1'])
  assert.equal(good.code, 0, good.stderr)
  const texts = sent.map(body => new URLSearchParams(body).get('content'))
  assert.deepEqual(
    texts,
    lines.map((_, i) => `${i}${content}`),
  )

  sent.length = 0
  write('bad.ndjson', Buffer.concat([Buffer.from(lines.join('')), latin1('{"content":"café"}\n')]))
  const bad = await shell.natter(['send', '--batch', 'bad.ndjson', '--parallel', '1', '--keep-going'])
  assert.equal(bad.code, 2, bad.stderr)
  assert.match(bad.stderr, /--batch: bad\.ndjson: line 9 is not UTF-8/)
  // Every call that was made has its result.
  assert.equal(bad.stdout.trim().split('\n').length, sent.length)
})

test('a CSV file with two columns of one name is refused, one with columns without a name is not', async t => {
  const { sent, shell, write } = await startServer(t)
  write('rows.csv', 'place,content,content\n#general>x,one,two\n')
  const { code, stderr } = await shell.natter(['send', '--batch', 'rows.csv'])
  assert.equal(code, 2)
  assert.match(stderr, /--batch: not valid CSV: there are two columns "content"/)
  assert.deepEqual(sent, [])
  write('rows.csv', 'place,content,,\n#general>x,one,,\n')
  assert.equal((await shell.natter(['send', '--batch', 'rows.csv'])).code, 0)
  assert.equal(sent.length, 1)
})

test('a byte order mark at the beginning of a batch is no part of it', async t => {
  const { sent, shell, write } = await startServer(t)
  write('lines.ndjson', '\ufeff{"place":"#general>x","content":"\ufefftea"}\n')
  const { code, stderr } = await shell.natter(['send', '--batch', 'lines.ndjson'])
  assert.equal(code, 0, stderr)
  assert.equal(new URLSearchParams(sent[0]).get('content'), '\ufefftea')
})
