// Connections that are ended: those beyond the bound, those that read nothing, and those whose unread answers take too much room.

import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import { describe, test } from 'node:test'
import { fitDescriptors, refusedBeside, usualBounds } from '../../daemon/http/bounds.ts'
import { Connections } from '../../daemon/http/connections.ts'

/** As much of a socket as is looked at. */
class FakeSocket extends EventEmitter {
  writableLength = 0
  bytesWritten = 0
  isDestroyed = false
  answer = ''

  destroy(): void {
    this.isDestroyed = true
    this.emit('close')
  }
  resume(): void {}
  end(text: string): void {
    this.answer = text
  }
}

function connect(connections: Connections, waiting = 0): FakeSocket {
  const socket = new FakeSocket()
  socket.writableLength = waiting
  socket.bytesWritten = waiting
  connections.admit(socket as unknown as Socket)
  return socket
}

describe('connections', () => {
  const bounds = { ...usualBounds, connections: 3, stalledMs: 1000, unsentBytes: 100 }

  test('beyond the bound are refused in words, until one has left', t => {
    const connections = new Connections(bounds)
    t.after(() => connections.stop())
    const first = [1, 2, 3].map(() => connect(connections))
    const refused = connect(connections)
    assert.match(refused.answer, /^HTTP\/1\.1 503 Service Unavailable\r\n.*Retry-After: 1\r\n.*"code":"SERVER_BUSY"/s)
    refused.emit('close')
    first[0]!.destroy()
    assert.equal(connect(connections).answer, '')
  })

  test('that take nothing for too long are cut off; those that take a little are not', t => {
    const connections = new Connections(bounds)
    t.after(() => connections.stop())
    const [stalled, slow, done] = [connect(connections, 10), connect(connections, 10), connect(connections, 10)]
    connections.sweep(0)
    slow.writableLength = 9
    done.writableLength = 0
    connections.sweep(600)
    connections.sweep(1000)
    assert.deepEqual(
      [stalled, slow, done].map(socket => socket.isDestroyed),
      [false, false, false],
    )
    connections.sweep(1001)
    assert.deepEqual(
      [stalled, slow, done].map(socket => socket.isDestroyed),
      [true, false, false],
    )
  })

  test('with the most to take are cut off when it is too much in all', t => {
    const connections = new Connections(bounds)
    t.after(() => connections.stop())
    const sockets = [30, 50, 60].map(waiting => connect(connections, waiting))
    connections.sweep(0)
    assert.deepEqual(
      sockets.map(socket => socket.isDestroyed),
      [false, false, true],
    )
  })

  test('are as many as descriptors allow at both ports, beside the files of uploads and calls to other daemons', () => {
    for (const limit of [1024, 4096, 20_000, 1_048_576])
      for (const inCluster of [false, true]) {
        const { connections, peerConnections, arrivingFiles } = fitDescriptors(inCluster, limit)
        const peers = inCluster ? peerConnections + refusedBeside(peerConnections) + Math.min(400, limit / 8) : 0
        const used = connections + refusedBeside(connections) + peers + arrivingFiles
        assert.ok(used <= limit - 200 && connections > limit / 5, `${used} of ${limit}, ${connections} for clients`)
      }
    assert.deepEqual(fitDescriptors(true, 1), { connections: 1, peerConnections: 1, arrivingFiles: 1 })
    assert.equal(fitDescriptors(true, Number.POSITIVE_INFINITY).connections, Number.POSITIVE_INFINITY)
  })
})
