// Several pages on one connection: node:http hands over all that one packet asks for, and they must be answered one at a time.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { PageTurns } from '../../daemon/http/page-turns.ts'
import { sharedDaemon } from '../support/daemon.ts'

type Serve = (request: IncomingMessage, response: ServerResponse) => void

async function connected(t: TestContext, serve: Serve): Promise<Socket> {
  const server = createServer(serve)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  t.after(() => {
    socket.destroy()
    server.closeAllConnections()
    server.close()
  })
  await once(socket.setEncoding('latin1'), 'connect')
  return socket
}

function requests(path: (n: number) => string, count: number): string {
  return Array.from({ length: count }, (_, n) => `GET ${path(n)} HTTP/1.1\r\nHost: localhost\r\n\r\n`).join('')
}

async function readUntil(socket: Socket, wanted: (text: string) => boolean): Promise<string> {
  let text = ''
  for await (const chunk of socket) {
    text += chunk
    if (wanted(text)) break
  }
  return text
}

test('pages that one packet asks for are answered one at a time, in order, and other work comes in between', async t => {
  const turns = new PageTurns()
  let open = 0
  let passes = 0
  const began: number[] = []
  const most: number[] = []
  const socket = await connected(t, (request, response) => {
    turns.take(request, response, async () => {
      most.push(++open)
      began.push(passes)
      await Promise.resolve()
      open--
      response.end(`${request.url} is answered;`)
    })
  })
  const pass = () => {
    passes++
    if (began.length < 50) setImmediate(pass)
  }
  setImmediate(pass)
  socket.write(requests(n => `/${n}`, 50))
  const text = await readUntil(socket, text => text.includes('/49 is answered;'))
  assert.deepEqual(
    text.match(/\/\d+ is answered/g),
    Array.from({ length: 50 }, (_, n) => `/${n} is answered`),
  )
  assert.equal(Math.max(...most), 1)
  assert.equal(new Set(began).size, 50, 'each began in a turn of its own')
})

test('what waits behind a page for a client that left is not begun', async t => {
  const turns = new PageTurns()
  const seen: string[] = []
  const socket = await connected(t, (request, response) => {
    turns.take(request, response, () => {
      seen.push(request.url!)
      response.once('close', () => seen.push('closed'))
      socket.destroy()
    })
  })
  socket.write(requests(n => `/${n}`, 3))
  while (!seen.includes('closed')) await new Promise(resolve => setTimeout(resolve, 5))
  await new Promise(resolve => setTimeout(resolve, 20))
  assert.deepEqual(seen, ['/0', 'closed'])
})

const daemon = sharedDaemon()

test('a daemon answers all pages that a connection asks for', async t => {
  const { hostname, port } = new URL(daemon().url)
  const socket = connect(Number(port), hostname)
  t.after(() => socket.destroy())
  await fetch(`${daemon().url}/static/icon.svg`)
  const count = 300
  socket.setEncoding('latin1').write(requests(() => '/static/icon.svg', count))
  const statuses = (text: string) => text.match(/(?<=HTTP\/1\.1 )\d+/g) ?? []
  const answers = await readUntil(socket, text => statuses(text).length === count && text.endsWith('</svg>'))
  assert.deepEqual(statuses(answers), Array(count).fill('200'))
  assert.equal((await fetch(`${daemon().url}/static/icon.svg`)).status, 200)
})
