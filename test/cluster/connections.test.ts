// Calls over kept connections: what ends them, and what reaches the other side.

import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, createServer as createSilent, type Server as Silent } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, type TestContext, test } from 'node:test'
import { Connections, connectTimeout } from '../../daemon/cluster/connections.ts'

function open(t: TestContext, connectMs = 60_000): Connections {
  const connections = new Connections({ most: 1, connectMs })
  t.after(() => connections.close())
  return connections
}

async function listening(t: TestContext, server: Server | Silent): Promise<URL> {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
}

/** Sends half of an answer to all calls. */
function halfway(t: TestContext): Promise<URL> {
  return listening(
    t,
    createServer((_, response) => void response.writeHead(200).write('half')),
  )
}

const call = { method: 'POST', headers: {}, body: '{}' }

describe('a call', () => {
  test('sends its path as it is', async t => {
    const url = await listening(
      t,
      createServer((request, response) => void response.end(request.url)),
    )
    const connections = open(t)
    for (const path of ['/a/%2e%2e/b?c=//d', '//example.com/a', '/a/../b'])
      assert.equal(await text(await connections.send(url, { ...call, path })), path)
  })

  test('ends with the reason of its signal, also in the middle of the answer', async t => {
    const stop = new AbortController()
    const reason = new Error('enough')
    const answer = await open(t).send(await halfway(t), { ...call, signal: stop.signal })
    const body = text(answer)
    stop.abort(reason)
    await assert.rejects(body, reason)
    await assert.rejects(open(t).send(new URL('http://127.0.0.1:1'), { ...call, signal: stop.signal }), reason)
  })

  test('ends when the other side is silent for too long', async t => {
    const answer = await open(t).send(await halfway(t), { ...call, silenceMs: 50 })
    await assert.rejects(text(answer), /no answer in time/)
  })

  test('that finds no connection in time has a code that says so', async t => {
    const { port } = await listening(
      t,
      createSilent(socket => void socket.on('error', () => {})),
    )
    const late = open(t, 50).send(new URL(`https://127.0.0.1:${port}`), call)
    await assert.rejects(late, { code: connectTimeout })
  })

  test('ends when the connections are closed, and so does one that waits for a connection', async t => {
    const url = await halfway(t)
    const connections = open(t)
    const answer = await connections.send(url, call)
    const waiting = connections.send(url, call)
    const body = text(answer)
    connections.close()
    const calls = [body, waiting, connections.send(url, call)]
    await Promise.all(calls.map(ended => assert.rejects(ended, /are closed/)))
  })
})
