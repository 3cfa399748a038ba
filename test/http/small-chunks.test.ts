// Bodies and answers in chunks of one byte: a client or server decides how large its chunks are.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { describe, test } from 'node:test'
import { newShell } from '../support/cli.ts'
import { sharedDaemon } from '../support/daemon.ts'

/** Bytes. Each takes 400 where it is kept as it came. */
const size = 256 * 1024
/** MiB by which a process grows at most, for garbage that is not collected yet. */
const most = 60

const chunks = Buffer.from('1\r\na\r\n'.repeat(4096))

async function sendChunks(socket: Socket): Promise<void> {
  for (let sent = 0; sent < size; sent += 4096) if (!socket.write(chunks)) await once(socket, 'drain')
}

function asChunk(text: string): string {
  return `${text.length.toString(16)}\r\n${text}\r\n`
}

/** The most memory that the process has had, in MiB. */
function peakOf(pid: number): number {
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024
}

const skip = process.platform !== 'linux' && 'reads the memory of a process from /proc'

describe('chunks of one byte', { skip }, () => {
  const daemon = sharedDaemon({ alone: true, flags: ['--memory'] })

  const forms = { path: '/api/v1/fetch_api_key', type: 'application/x-www-form-urlencoded', begin: '', auth: false }
  const part = '--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n'
  const files = { path: '/api/v1/user_uploads', type: 'multipart/form-data; boundary=b', begin: part, auth: true }
  for (const [kind, { path, type, begin, auth }] of Object.entries({ 'forms of a stranger': forms, files }))
    test(`${kind} that arrive so take little memory`, async t => {
      const { hostname, port } = new URL(daemon().url)
      const basic = Buffer.from(daemon().owner.auth!).toString('base64')
      const lines = [
        `POST ${path} HTTP/1.1`,
        `Host: ${hostname}`,
        `Content-Type: ${type}`,
        'Transfer-Encoding: chunked',
      ]
      if (auth) lines.push(`Authorization: Basic ${basic}`)
      const pid = daemon().process.pid!
      const before = peakOf(pid)
      const socket = connect(Number(port), hostname)
      t.after(() => socket.destroy())
      socket.write(`${lines.join('\r\n')}\r\n\r\n${begin && asChunk(begin)}`)
      await sendChunks(socket)
      socket.write('0\r\n\r\n')
      assert.match(String(await once(socket, 'data')), /^HTTP\/1\.1 400 /)
      const grown = peakOf(pid) - before
      assert.ok(grown < most, `${grown} MiB`)
    })

  test('an answer that arrives so takes little memory in natter', async t => {
    const server = createServer(async ({ socket }, response) => {
      response.writeHead(200, { 'Content-Type': 'application/json' }).flushHeaders()
      socket.write(asChunk('{"result":"success","members":[],"text":"'))
      await sendChunks(socket)
      socket.write(`${asChunk('"}')}0\r\n\r\n`)
    })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    t.after(() => server.close().closeAllConnections())
    const site = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const shell = newShell(t, { NATTER_SITE: site, NATTER_EMAIL: 'amy@example.com', NATTER_API_KEY: 'x'.repeat(32) })
    const natter = shell.spawn(['users', 'list', '--json'])
    natter.stdout!.resume()
    let peak = 0
    const looking = setInterval(() => {
      peak = Math.max(peak, peakOf(natter.pid!))
    }, 20)
    const [code] = await once(natter, 'close')
    clearInterval(looking)
    assert.equal(code, 0)
    assert.ok(peak > 0 && peak < 80 + most, `${peak} MiB`)
  })
})
