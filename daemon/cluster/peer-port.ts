// The address where the daemons of a cluster call each other (`--cluster-listen`); clients do not use it. It takes two kinds of calls,
// each with a token of its own: those of the daemons below /cluster/v1, and writes of clients that a follower sends on.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { Refusal } from '../domain/refusal.ts'
import { createAnswering, missingPath, refuse } from '../http/answer.ts'
import { type Bounds, fitDescriptors, usualBounds } from '../http/bounds.ts'
import type { Certificate } from '../http/certificate.ts'
import { isForEdge } from '../http/incoming.ts'
import { createListener } from '../http/listener.ts'
import { targetRefusal } from '../http/target.ts'
import { forbidden } from '../io/webhook-targets.ts'
import type { ClusterConfig } from '../start/cluster-config.ts'
import { isWildcard } from '../start/listen-address.ts'
import { forwardedHeader, type Peers, peersPrefix, sameToken, tokenHeader } from './peers.ts'

interface PeerPortParts {
  readonly peers: Peers
  readonly certificate: Certificate | undefined
  /** Bytes of the largest body. */
  readonly bodyLimit: number
  readonly newId: () => string
  /** Answers another daemon. The path is relative to /cluster/v1. */
  readonly answer: (path: string, request: IncomingMessage, response: ServerResponse) => Promise<void>
  /** Answers a call of a client that another daemon has sent on. */
  readonly forwarded: (request: IncomingMessage, response: ServerResponse) => void
}

interface PeerPort {
  /** Resolves with the number of the port. */
  listen(where: ClusterConfig['listen']): Promise<number>
  replaceCertificate(certificate: Certificate): void
  unref(): void
  close(): Promise<void>
}

const bounds: Bounds = { ...usualBounds, connections: fitDescriptors(true).peerConnections }

/** Connections that have not shown a token. When they are too many, the oldest is closed, so that daemons always find room. */
class Strangers {
  readonly #most = bounds.connections / 2
  /** By the address of the other side: a connection with TLS is another object than the one below it. */
  readonly #sockets = new Map<string, Socket>()

  add(socket: Socket): void {
    const name = nameOf(socket)
    this.#sockets.set(name, socket)
    socket.once('close', () => {
      if (this.#sockets.get(name) === socket) this.#sockets.delete(name)
    })
    if (this.#sockets.size <= this.#most) return
    const [itsName, oldest] = this.#sockets.entries().next().value!
    this.#sockets.delete(itsName)
    oldest.destroy()
  }

  remove(socket: Socket): void {
    this.#sockets.delete(nameOf(socket))
  }
}

function nameOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`
}

const writing = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])

export function openPeerPort(parts: PeerPortParts): PeerPort {
  const { peers, certificate, bodyLimit, newId } = parts
  const strangers = new Strangers()
  const take = (request: IncomingMessage, response: ServerResponse) => {
    const refusal = refusalFor(request, peers)
    if (!refusal) strangers.remove(request.socket)
    if (refusal) {
      const to = createAnswering({ method: request.method!, id: newId() }, response)
      // The body of a stranger is not read.
      to.headers.push('Connection', 'close')
      refuse(to, refusal)
    } else if (isForEdge(request.url!)) parts.forwarded(request, response)
    else
      parts.answer(pathOf(request).slice(peersPrefix.length), request, response).catch(error => {
        // The other daemon must not wait for the rest of an answer that does not come.
        if (response.headersSent) response.destroy()
        else refuse(createAnswering({ method: request.method!, id: newId() }, response), toRefusal(error))
      })
  }
  const listener = createListener({ bounds, bodyLimit, certificate, newId, take })
  const { server } = listener
  server.prependListener('connection', (socket: Socket) => strangers.add(socket))
  return {
    listen: ({ host, port }) =>
      new Promise((resolve, reject) => {
        const fail = (error: Error) => reject(new Error(`--cluster-listen ${host}:${port}: ${error.message}`))
        server.once('error', fail)
        server.listen({ host, port }, () => {
          server.removeListener('error', fail)
          resolve((server.address() as AddressInfo).port)
        })
      }),
    replaceCertificate: newer => listener.replaceCertificate(newer),
    unref() {
      server.unref()
      server.on('connection', socket => socket.unref())
    },
    close: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        listener.closeAll()
      }),
  }
}

function refusalFor(request: IncomingMessage, { token, forwardedToken }: Peers): Refusal | undefined {
  const bad = targetRefusal(request.url!)
  if (bad) return bad
  const isFromDaemon = pathOf(request).startsWith(`${peersPrefix}/`)
  const isForwarded = isForEdge(request.url!) && writing.has(request.method!)
  if (!isFromDaemon && !isForwarded) return missingPath(pathOf(request))
  const isKnown = isFromDaemon
    ? sameToken(request.headers[tokenHeader], token)
    : sameToken(request.headers[forwardedHeader], forwardedToken)
  return isKnown ? undefined : unknownCaller
}

/** The other daemon has the secret, so the message may have the reason. */
function toRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error
  return new Refusal(error instanceof Error ? error.message : String(error), { code: 'INTERNAL_ERROR' })
}

const unknownCaller = new Refusal('This address is for the daemons of the cluster, which share a secret.', {
  kind: 'unauthenticated',
  status: 401,
})

function pathOf({ url }: IncomingMessage): string {
  return url!.split('?', 1)[0]!
}

/** A sentence for an address that other networks may reach; undefined for one in a private network. */
export function describeExposure(host: string): string | undefined {
  if (!isWildcard(host) && forbidden(host, { loopback: false, private: false })) return undefined
  return (
    `--cluster-listen ${host} may be reached from other networks. A program with the secret can read and change everything there: ` +
    'choose an address of a private network, or keep others out with a firewall'
  )
}

/** Where the other daemons reach this address. */
export function peerUrl(
  { listen: { host }, advertise, peerAdvertise }: ClusterConfig,
  port: number,
  scheme: 'http' | 'https',
): string {
  if (peerAdvertise !== undefined) return peerAdvertise
  // A certificate is made out to a name, and not every address can be called.
  const named = advertise !== undefined && (scheme === 'https' || isWildcard(host))
  const own = host.includes(':') ? `[${host}]` : host
  return `${scheme}://${named ? new URL(advertise).hostname : own}:${port}`
}
