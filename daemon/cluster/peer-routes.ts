// What a daemon answers to the others of its cluster, below /cluster/v1. They show a token that follows from the secret.

import { createHash } from 'node:crypto'
import { createReadStream, existsSync } from 'node:fs'
import { join } from 'node:path'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Fact } from '../domain/facts.ts'
import type { Engine } from '../engine.ts'
import { isInUse } from '../events/queue.ts'
import type { RepeatedCall } from '../http/exchange.ts'
import { peersPrefix } from '../http/incoming.ts'
import { snapshotPosition } from '../journal/snapshots.ts'
import { sameToken, tokenHeader } from './peers.ts'

export interface PeerRoutesParts {
  readonly token: string
  readonly folder: string
  engine(): Engine
  leads(): boolean
  committed(): number
  elapsed(): number
  repeat(call: RepeatedCall): void
  readFile(name: string): Promise<Uint8Array | undefined>
  /** Has a file, or fetches it from that daemon. */
  keepFile(name: string, from: string): Promise<boolean>
}

export interface RecordCall {
  readonly op: string
  readonly actor: number | null
  readonly facts: readonly Fact[]
}

type Answer = object | undefined

export function peerRoutes(parts: PeerRoutesParts): (request: FastifyRequest, reply: FastifyReply) => Promise<unknown> {
  return async (request, reply) => {
    if (!sameToken(request.headers[tokenHeader], parts.token))
      return reply.code(401).send({ msg: 'This address is for the daemons of the cluster, which share a secret.' })
    const path = request.url.slice(peersPrefix.length).split('?', 1)[0]!
    const stored = /^\/store\/(state\.json|messages\/[\w.-]+)$/.exec(path)?.[1]
    if (stored) return sendStored(parts, stored, reply)
    const file = /^\/files\/([0-9a-f]{64})$/.exec(path)?.[1]
    if (file) {
      const bytes = await parts.readFile(file)
      return bytes ? reply.type('application/octet-stream').send(Buffer.from(bytes)) : reply.callNotFound()
    }
    const handler = handlers[`${request.method} ${path}`]
    if (!handler) return reply.callNotFound()
    const answer = await handler(parts, request.body ? JSON.parse(String(request.body)) : {})
    return answer ? reply.send(answer) : reply.code(409).send({ msg: 'This daemon does not lead its cluster.' })
  }
}

/** The answer, or undefined where only the leader has one. */
const handlers: Readonly<Record<string, (parts: PeerRoutesParts, body: any) => Promise<Answer>>> = {
  async 'POST /record'(parts, { records }: { records: readonly RecordCall[] }) {
    if (!parts.leads()) return undefined
    const engine = parts.engine()
    await Promise.all(
      records.map(({ op, actor, facts }) => {
        const useful = facts.filter(fact => isNews(engine, fact))
        return useful.length > 0 || facts.length === 0 ? engine.record(op, actor, useful) : undefined
      }),
    )
    // What was known already may still be on its way to the log.
    await engine.settled()
    return { position: parts.committed() }
  },
  async 'POST /signals'({ repeat }, { calls }: { calls: readonly RepeatedCall[] }) {
    for (const call of calls) repeat(call)
    return {}
  },
  async 'POST /seen'(parts, { queues }: { queues: readonly string[] }) {
    const elapsed = parts.elapsed()
    const known = parts.engine().queues
    return {
      inUse: queues.filter(id => {
        const queue = known.get(id)
        return queue !== undefined && isInUse(queue, elapsed)
      }),
    }
  },
  async 'POST /keep'({ keepFile }, { file, from }: { file: string; from: string }) {
    return { kept: /^[0-9a-f]{64}$/.test(file) && (await keepFile(file, from)) }
  },
  async 'POST /snapshot'(parts, { position }: { position: number }) {
    // A compaction that was under way may have begun before that position.
    for (let tries = 0; snapshotPosition(parts.folder) < position && tries < 3; tries++) await parts.engine().compact()
    return { position: snapshotPosition(parts.folder) }
  },
  async 'GET /state'(parts) {
    const engine = parts.engine()
    return { position: parts.committed(), sums: sumsOf(engine) }
  },
}

/** A poll can be repeated: an acknowledgement that is known, or of a queue that has ended, is left out. */
function isNews({ queues }: Engine, fact: Fact): boolean {
  if (fact.type !== 'queue.acknowledged') return true
  const queue = queues.get(fact.queueId)
  return queue !== undefined && fact.upTo > queue.acknowledged
}

function sendStored({ folder }: PeerRoutesParts, name: string, reply: FastifyReply): unknown {
  const path = join(folder, name)
  if (!existsSync(path)) return reply.callNotFound()
  return reply.type('application/octet-stream').send(createReadStream(path))
}

/**
 * A checksum for each section of the state, to compare daemons at one position. Left out is what is sent outside of the log:
 * presence, and of the queues the signals and what follows from them.
 */
function sumsOf(engine: Engine): Record<string, string> {
  const sums: Record<string, string> = {}
  // As rows: which messages are in files, and what these are called, depends on when a daemon wrote its last snapshot.
  const sections = { ...engine.save(), messages: engine.state.messages.save(true) }
  for (const [name, rows] of Object.entries(sections)) {
    if (name === 'presence' || name === 'queues') continue
    const hash = createHash('sha256')
    for (const row of rows) hash.update(JSON.stringify(row)).update('\n')
    sums[name] = hash.digest('hex')
  }
  const hash = createHash('sha256')
  for (const { id, birth, pending } of engine.queues.values()) {
    const lasting = pending.filter(event => event.lasting).map(event => [event.id, event.body])
    hash.update(JSON.stringify([id, birth, lasting])).update('\n')
  }
  sums.queues = hash.digest('hex')
  return sums
}
