// Routes below /cluster/v1, where the other daemons of the cluster call this one.

import { createHash } from 'node:crypto'
import { createReadStream, existsSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { problemInRow } from '../api/checking.ts'
import type { Static, TSchema } from '../api/define.ts'
import type { QueueFact } from '../domain/model/facts/queues.ts'
import { malformed } from '../domain/refusal.ts'
import type { Engine } from '../engine.ts'
import { isInUse } from '../events/queue.ts'
import { missingPath } from '../http/answer.ts'
import { type Intake, readBody } from '../http/body.ts'
import type { RepeatedCall } from '../http/exchange.ts'
import { hasBody } from '../http/incoming.ts'
import type { StoredFile } from '../io/files.ts'
import { snapshotPosition } from '../journal/snapshots.ts'
import { parseJson } from '../local/nesting.ts'
import { openPlainSync } from '../local/plain-files.ts'
import { StateDigest } from './digest.ts'
import * as shapes from './peer-shapes.ts'
import { peersPrefix } from './peers.ts'

interface PeerRoutesParts {
  readonly folder: string
  readonly intake: Intake
  engine(): Engine
  /** ID of this member. */
  self(): string
  leads(): boolean
  committed(): number
  elapsed(): number
  repeat(call: RepeatedCall): void
  findFile(name: string): Promise<StoredFile | undefined>
  /** Whether the file is on this disk, after fetching it from the member with that ID if it was not. */
  keepFile(name: string, member: string): Promise<boolean>
  /** Waits until this daemon is at the position. */
  reach(position: number): Promise<boolean>
}

type Answer = object | undefined

export type AnswerPeer = (path: string, request: IncomingMessage, response: ServerResponse) => Promise<void>

export function peerRoutes(parts: PeerRoutesParts): AnswerPeer {
  return async (path, request, response) => {
    const stored = /^\/store\/(state\.json|messages\/[\w.-]+)$/.exec(path)?.[1]
    if (request.method === 'GET' && stored) return sendStored(parts, stored, path, response)
    const file = /^\/files\/([0-9a-f]{64})$/.exec(path)?.[1]
    if (request.method === 'GET' && file) {
      const found = await parts.findFile(file)
      if (!found) throw missingPath(`${peersPrefix}${path}`)
      response.writeHead(200, { 'Content-Type': 'application/octet-stream', 'Content-Length': found.size })
      return send(found.read(0, found.size - 1), response)
    }
    const name = `${request.method} ${path}`
    const route = Object.hasOwn(routes, name) ? routes[name] : undefined
    if (!route) throw missingPath(`${peersPrefix}${path}`)
    const body = await readJson(request, parts.intake)
    const problem = problemInRow('body', route.shape, body)
    if (problem !== undefined) throw malformed(problem)
    const answer = await route.answer(parts, body)
    sendJson(response, answer ? 200 : 409, answer ?? { msg: 'This daemon does not lead its cluster.' })
  }
}

async function readJson(request: IncomingMessage, { bodyBytes, held }: Intake): Promise<unknown> {
  if (!hasBody(request)) return {}
  const text = (await readBody(request, bodyBytes, held)).toString()
  try {
    return parseJson(text)
  } catch {
    throw malformed('The body is not JSON, or it is nested too deeply.', { code: 'INVALID_JSON' })
  }
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  const text = JSON.stringify(body)
  response.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) })
  response.end(text)
}

interface Route<S extends TSchema> {
  /** The shape of the body. */
  readonly shape: S
  /** Resolves with undefined where only the leader has an answer. */
  answer(parts: PeerRoutesParts, body: Static<S>): Promise<Answer>
}

function route<S extends TSchema>(shape: S, answer: Route<S>['answer']): Route<S> {
  return { shape, answer }
}

const routes: Readonly<Record<string, Route<any>>> = {
  'POST /record': route(shapes.record, async (parts, { records }) => {
    if (!parts.leads()) return undefined
    const engine = parts.engine()
    for (const { facts } of records) for (const fact of facts) checkOwner(engine, fact)
    await Promise.all(
      records.map(({ op, actor, facts }) => {
        const useful = facts.filter(fact => isNews(engine, fact))
        return useful.length > 0 || facts.length === 0 ? engine.record(op, actor, useful) : undefined
      }),
    )
    // Facts that were known already may not be committed yet.
    await engine.settled()
    return { position: parts.committed() }
  }),
  'POST /signals': route(shapes.signals, async ({ repeat }, { calls }) => {
    for (const call of calls) repeat(call)
    return {}
  }),
  'POST /seen': route(shapes.seen, async (parts, { queues }) => {
    const elapsed = parts.elapsed()
    const known = parts.engine().queues
    return {
      member: parts.self(),
      inUse: queues.filter(id => {
        const queue = known.get(id)
        return queue !== undefined && isInUse(queue, elapsed)
      }),
    }
  }),
  'POST /keep': route(shapes.keep, async ({ keepFile }, { file, from }) => ({ kept: await keepFile(file, from) })),
  'POST /drop': route(shapes.drop, async (parts, { files, position }) => {
    // The state of a daemon that lags may still name them.
    if (await parts.reach(position)) parts.engine().dropFiles(files)
    return {}
  }),
  'POST /snapshot': route(shapes.snapshot, async (parts, { position }) => {
    // A compaction in progress may have begun before that position.
    for (let tries = 0; snapshotPosition(parts.folder) < position && tries < 3; tries++) await parts.engine().compact()
    return { position: snapshotPosition(parts.folder) }
  }),
  'GET /state': route(shapes.state, async parts => {
    const engine = parts.engine()
    // Not the committed position: the state of a leader has entries that are not committed yet.
    const { position } = engine
    const events = sumOfEvents(engine)
    return { position, sums: { ...(await new StateDigest().computeSums(engine)), events } }
  }),
}

/** A queue of an unknown account would make every daemon fail that announces an event to it. */
function checkOwner({ state }: Engine, fact: QueueFact): void {
  if (fact.type === 'queue.registered' && !state.users.has(fact.queue.userId))
    throw malformed(`There is no user ${fact.queue.userId}, whose queue is to be registered.`)
}

/** False for an acknowledgement that is known already, or whose queue has ended: a poll can be repeated. */
function isNews({ queues }: Engine, fact: QueueFact): boolean {
  if (fact.type !== 'queue.acknowledged') return true
  const queue = queues.get(fact.queueId)
  return queue !== undefined && fact.upTo > queue.acknowledged
}

async function sendStored(
  { folder }: PeerRoutesParts,
  name: string,
  path: string,
  response: ServerResponse,
): Promise<void> {
  const file = join(folder, name)
  if (!existsSync(file)) throw missingPath(`${peersPrefix}${path}`)
  const stored = createReadStream('', { fd: openPlainSync(file) })
  response.writeHead(200, { 'Content-Type': 'application/octet-stream' })
  await send(stored, response)
}

/** The other daemon notices when a file ends early. */
async function send(file: Readable, response: ServerResponse): Promise<void> {
  await pipeline(file, response).catch(() => response.destroy())
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
