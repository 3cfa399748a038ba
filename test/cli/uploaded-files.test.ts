// Downloads: which addresses of a server are followed, and what is read.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { checkedLookup } from '../../cli/transport/uploaded-files.ts'
import { accountAt, fakeServer, json, newShell } from '../support/cli.ts'

test('a server cannot make a download call a network that is nearer than its own', async () => {
  const check = (url: string, server: 'internet' | 'private' | 'loopback') => checkedLookup(new URL(url), server)
  for (const [url, server] of [
    ['http://169.254.169.254/latest/meta-data', 'internet'],
    ['http://10.0.0.1/', 'internet'],
    ['http://localhost/', 'internet'],
    ['http://[::1]/', 'private'],
    ['http://0x7f000001/', 'private'],
  ] as const)
    await assert.rejects(check(url, server), /the server sent the address http\S+, which is not on the internet/, url)
  await check('http://93.184.215.14/', 'internet')
  await check('http://10.0.0.1/', 'private')
  await check('http://127.0.0.1/', 'loopback')
})

test('a download does not read the body of a redirect or a refusal', async t => {
  const sent: string[] = []
  const url = await fakeServer(t, ({ url }, response) => {
    if (url!.startsWith('/api/')) return json(response, { result: 'success', url: url!.replace('/api/v1', '') })
    if (url === '/final') return response.end('hello')
    response.writeHead(url!.endsWith('gone') ? 404 : 302, url!.endsWith('gone') ? {} : { Location: '/final' })
    response.on('finish', () => sent.push(url!))
    Readable.from(Array(64).fill(Buffer.alloc(1024 * 1024))).pipe(response)
  })
  const shell = newShell(t, accountAt(url))
  const moved = await shell.natter(['uploads', 'download', '/user_uploads/1/4f/moved'])
  assert.equal(moved.code, 0, moved.stderr)
  const gone = await shell.natter(['uploads', 'download', '/user_uploads/1/4f/gone'])
  assert.equal(gone.code, 3, gone.stderr)
  assert.deepEqual(sent, [])
  assert.equal(readFileSync(join(shell.home, 'moved'), 'utf8'), 'hello')
})

test('a download ends within --timeout if its answer does not begin', { timeout: 60_000 }, async t => {
  const answers: Readonly<Record<string, (write: (text: string) => void) => void>> = {
    hints: write => write('HTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\n'),
    header: write => write('a'),
  }
  const url = await fakeServer(t, ({ url }, response) => {
    if (url!.startsWith('/api/')) return json(response, { result: 'success', url: url!.replace('/api/v1', '') })
    const { socket } = response
    if (url!.endsWith('header')) socket!.write('HTTP/1.1 200 OK\r\nX: ')
    const timer = setInterval(() => answers[url!.split('/').pop()!]!(text => socket!.write(text)), 200)
    socket!.on('close', () => clearInterval(timer))
  })
  const shell = newShell(t, accountAt(url))
  for (const name of Object.keys(answers)) {
    const began = performance.now()
    const { code, stderr } = await shell.run(['uploads', 'download', `/user_uploads/1/4f/${name}`, '--timeout', '1s'])
    assert.equal(code, 8, stderr)
    assert.match(stderr, /did not answer within 1 s/)
    assert.ok(performance.now() - began < 10_000)
  }
})
