// The server of a process that cannot go on.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import { buildServer } from '../../daemon/http/server.ts'
import type { Site } from '../../daemon/http/site.ts'

for (const plainHttp of [false, true])
  test(`disconnect cuts connections with and without a request, and closes the port (plainHttp ${plainHttp})`, async () => {
    let isAsked = () => {}
    const asked = new Promise<void>(resolve => {
      isAsked = resolve
    })
    const server = buildServer({ bodyLimit: 1024, logLevel: 'silent', plainHttp })
    // Never answers.
    server.mount('', { serve: isAsked, serveWhole: isAsked } as unknown as Site)
    const port = Number(new URL(await server.listen({ host: '127.0.0.1', port: 0 })).port)
    const sockets = [connect(port, '127.0.0.1'), connect(port, '127.0.0.1')]
    const closed = Promise.all(
      sockets.map(socket =>
        once(
          socket.on('error', () => {}),
          'close',
        ),
      ),
    )
    await Promise.all(sockets.map(socket => once(socket, 'connect')))
    sockets[0]!.write('GET /api/v1/users HTTP/1.1\r\nHost: localhost\r\n\r\n')
    await asked
    server.disconnect()
    await closed
    await assert.rejects(once(connect(port, '127.0.0.1'), 'connect'), { code: 'ECONNREFUSED' })
  })
