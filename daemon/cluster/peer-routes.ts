// Routes for the other daemons of the cluster, below /cluster/v1 of the address for them.

import { createHash } from 'node:crypto'
import { createReadStream, existsSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { Fact } from '../domain/facts.ts'
import { malformed } from '../domain/refusal.ts'
import type { Engine } from '../engine.ts'
import { isInUse } from '../events/queue.ts'
import { missingPath } from '../http/answer.ts'
import { type Intake, readBody } from '../http/body.ts'
import type { RepeatedCall } from '../http/exchange.ts'
import { hasBody } from '../http/incoming.ts'
import { snapshotPosition } from '../journal/snapshots.ts'
import { StateDigest } from './digest.ts'
import { peersPrefix } from './peers.ts'

interface PeerRoutesParts {
  readonly folder: string
  readonly intake: Intake
  engine(): Engine
  leads(): boolean
  committed(): number
  elapsed(): number
  repeat(call: RepeatedCall): void
  readFile(name: string): Promise<Uint8Array | undefined>
  /** Has a file, or fetches it from the member with that ID. */
  keepFile(name: string, member: string): Promise<boolean>
  /** Waits until this daemon is at the position. */
  reach(position: number): Promise<boolean>
}

export interface RecordCall {
  readonly op: string
  readonly actor: number | null
  readonly facts: readonly Fact[]
}

type Answer = object | undefined

export type AnswerPeer = (path: string, request: IncomingMessage, response: ServerResponse) => Promise<void>

export function peerRoutes(parts: PeerRoutesParts): AnswerPeer {
  return async (path, request, response) => {
    const stored = /^\/store\/(state\.json|messages\/[\w.-]+)$/.exec(path)?.[1]
    if (request.method === 'GET' && stored) return sendStored(parts, stored, path, response)
    const file = /^\/files\/([0-9a-f]{64})$/.exec(path)?.[1]
    if (request.method === 'GET' && file) {
      const bytes = await parts.readFile(file)
      if (!bytes) throw missingPath(`${peersPrefix}${path}`)
      response.writeHead(200, { 'Content-Type': 'application/octet-stream', 'Content-Length': bytes.length })
      response.end(bytes)
      return
    }
    const name = `${request.method} ${path}`
    const handler = Object.hasOwn(handlers, name) ? handlers[name] : undefined
    if (!handler) throw missingPath(`${peersPrefix}${path}`)
    const answer = await handler(parts, await readJson(request, parts.intake))
    sendJson(response, answer ? 200 : 409, answer ?? { msg: 'This daemon does not lead its cluster.' })
  }
}

async function readJson(request: IncomingMessage, { bodyBytes, held }: Intake): Promise<Record<string, unknown>> {
  if (!hasBody(request)) return {}
  const text = (await readBody(request, bodyBytes, held)).toString()
  try {
    const body = JSON.parse(text)
    if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body
  } catch {
    // Said below.
  }
  throw malformed('The body is not a JSON object.', { code: 'INVALID_JSON' })
}

/** The list in a field of a body. */
function readList<T>(body: Readonly<Record<string, unknown>>, name: string): readonly T[] {
  const list = body[name]
  if (!Array.isArray(list)) throw malformed(`The field ${name} is not a list.`)
  return list
}

function positionIn({ position }: Readonly<Record<string, unknown>>): number {
  if (!Number.isSafeInteger(position)) throw malformed('The field position is no position.')
  return position as number
}

function isFileName(name: unknown): name is string {
  return typeof name === 'string' && /^[0-9a-f]{64}$/.test(name)
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  const text = JSON.stringify(body)
  response.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) })
  response.end(text)
}

/** The answer, or undefined where only the leader has one. */
const handlers: Readonly<Record<string, (parts: PeerRoutesParts, body: Record<string, unknown>) => Promise<Answer>>> = {
  async 'POST /record'(parts, body) {
    const records = readList<RecordCall>(body, 'records')
    if (!records.every(isRecord)) throw malformed('The field records has something that is no record.')
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
  async 'POST /signals'({ repeat }, body) {
    for (const call of readList<RepeatedCall>(body, 'calls')) repeat(Object(call))
    return {}
  },
  async 'POST /seen'(parts, body) {
    const elapsed = parts.elapsed()
    const known = parts.engine().queues
    return {
      inUse: readList<string>(body, 'queues').filter(id => {
        const queue = known.get(id)
        return queue !== undefined && isInUse(queue, elapsed)
      }),
    }
  },
  async 'POST /keep'({ keepFile }, { file, from }) {
    if (!isFileName(file)) throw malformed('The field file is no name of a file.')
    return { kept: await keepFile(file, String(from)) }
  },
  async 'POST /drop'(parts, body) {
    const files = readList<string>(body, 'files')
    if (!files.every(isFileName)) throw malformed('The field files has something that is no name of a file.')
    const position = positionIn(body)
    // What the leader no longer names, a daemon that lags may name still.
    if (await parts.reach(position)) parts.engine().dropFiles(files)
    return {}
  },
  async 'POST /snapshot'(parts, body) {
    const position = positionIn(body)
    // A compaction that was under way may have begun before that position.
    for (let tries = 0; snapshotPosition(parts.folder) < position && tries < 3; tries++) await parts.engine().compact()
    return { position: snapshotPosition(parts.folder) }
  },
  async 'GET /state'(parts) {
    const engine = parts.engine()
    // Not what is committed: the state of a leader has entries that are on their way.
    const { position } = engine
    const events = sumOfEvents(engine)
    return { position, sums: { ...(await new StateDigest().computeSums(engine)), events } }
  },
}

/** A poll can be repeated: an acknowledgement that is known, or of a queue that has ended, is left out. */
function isNews({ queues }: Engine, fact: Fact): boolean {
  if (fact.type !== 'queue.acknowledged') return true
  const queue = queues.get(fact.queueId)
  return queue !== undefined && fact.upTo > queue.acknowledged
}

function isRecord({ op, actor, facts }: RecordCall): boolean {
  return typeof op === 'string' && (actor === null || Number.isSafeInteger(actor)) && Array.isArray(facts)
}

async function sendStored(
  { folder }: PeerRoutesParts,
  name: string,
  path: string,
  response: ServerResponse,
): Promise<void> {
  const file = join(folder, name)
  if (!existsSync(file)) throw missingPath(`${peersPrefix}${path}`)
  response.writeHead(200, { 'Content-Type': 'application/octet-stream' })
  // The other daemon notices when the file ends early.
  await pipeline(createReadStream(file), response).catch(() => response.destroy())
}

/** A digest of the events that queues hold, without signals, which are sent outside of the log. */
function sumOfEvents({ queues }: Engine): string {
  const hash = createHash('sha256')
  for (const { id, birth, pending } of queues.values()) {
    const lasting = pending.filter(event => event.lasting).map(event => [event.id, event.body])
    hash.update(JSON.stringify([id, birth, lasting])).update('\n')
  }
  return hash.digest('hex')
}
