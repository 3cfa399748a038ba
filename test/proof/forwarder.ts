// Requests with random targets and headers to a follower whose leader is recorded: the leader must see only writes to paths that
// the router knows, composed again, with the token for forwarded calls and nothing else of the client's.

import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Etcd, encodeText } from '../../daemon/cluster/etcd.ts'
import { Keys } from '../../daemon/cluster/keys.ts'
import { forwardedHeader, forwardedToken, tokenHeader } from '../../daemon/cluster/peers.ts'
import { resources } from '../../daemon/domain/index.ts'
import { Routes } from '../../daemon/http/routes.ts'
import { apiHeaders } from '../../daemon/http/to-leader.ts'
import { catalogueEndpoints } from '../support/catalogue.ts'
import { longLease, secret } from '../support/cluster.ts'
import { launch, type TestDaemon } from '../support/daemon.ts'
import { startEtcd, withoutEtcd } from '../support/etcd.ts'
import { hostileTargets, type RawRequest, sendRaw, statusOf } from '../support/hostile-targets.ts'
import { until } from '../support/until.ts'
import { type Campaign, dice, Failure } from './campaign.ts'

/** Requests of one round; the seed of a round brings it back. */
const perRound = 200
const atOnce = 8

export const campaign: Campaign = {
  about: 'requests with random targets and headers at a follower: the leader sees only what the follower has routed',
  unit: 'requests',
  long: 200_000,
  short: 400,
  unavailable: withoutEtcd,
  async run({ count, seed, deadline = Number.POSITIVE_INFINITY, note = () => {}, progress = () => {} }) {
    const scene = await Scene.begin()
    const statuses = new Map<number, number>()
    let done = 0
    try {
      for (let next = seed; done < count && performance.now() < deadline; next++) {
        const requests = scene.requests(next)
        const lanes = Array.from({ length: atOnce }, async (_, lane) => {
          for (let at = lane; at < requests.length; at += atOnce) {
            const { status } = await until(async () => {
              const answer = statusOf(await sendRaw(scene.daemon.url, requests[at]!))
              // It has just lost the lead and reads its store, or etcd is slow.
              return answer !== 503 && { status: answer }
            })
            statuses.set(status, (statuses.get(status) ?? 0) + 1)
            if (status >= 500) scene.wrong.push(`status ${status} for ${JSON.stringify(requests[at])}`)
          }
        })
        await Promise.all(lanes)
        if (scene.wrong.length > 0) throw new Failure(next, scene.wrong.join('\n'), perRound)
        done += requests.length
        progress(done)
        note(`${done} requests, ${scene.seen} at the leader`)
      }
    } finally {
      await scene.end()
    }
    if (scene.seen === 0) throw new Failure(seed, 'the leader has seen nothing: the requests prove nothing', done)
    const tally = [...statuses].sort(([a], [b]) => a - b).map(([status, number]) => `${number} × ${status}`)
    return { done, summary: `${scene.seen} reached the leader (${tally.join(', ')})` }
  },
}

/** A real daemon over a real etcd, which names a leader that this process plays. */
class Scene {
  readonly daemon: TestDaemon
  readonly wrong: string[] = []
  seen = 0
  readonly #patterns: readonly string[]
  readonly #routes = Routes.of(resources)
  readonly #ends: (() => unknown)[]

  private constructor(daemon: TestDaemon, patterns: readonly string[], ends: (() => unknown)[]) {
    this.daemon = daemon
    this.#patterns = patterns
    this.#ends = ends
  }

  static async begin(): Promise<Scene> {
    const folder = mkdtempSync(join(tmpdir(), 'natter-prove-forwarder-'))
    const etcd = await startEtcd(1)
    const ends: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true }), () => etcd.stop()]
    try {
      const flags = ['--cluster', etcd.urls[0]!, '--secret', secret, ...longLease]
      const daemon = await launch(join(folder, 'store'), { flags })
      ends.push(() => daemon.kill())
      const endpoints = (await catalogueEndpoints()).map(({ endpoint }) => endpoint)
      const patterns = endpoints.filter(({ served }) => served !== 'outgoing').map(({ path }) => path)
      const scene = new Scene(daemon, patterns, ends)
      const server = createServer((request, response) => {
        scene.#check(request)
        request
          .resume()
          .on('end', () => response.setHeader('natter-position', '0').end('{"result":"success","msg":""}'))
      })
      await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
      ends.push(() => {
        server.closeAllConnections()
        server.close()
      })
      await appoint(etcd.urls, `http://127.0.0.1:${(server.address() as AddressInfo).port}`)
      await until(async () => /"role":"follower"/.test(await (await fetch(`${daemon.url}/readyz`)).text()))
      return scene
    } catch (error) {
      for (const end of ends.reverse()) await end()
      throw error
    }
  }

  async end(): Promise<void> {
    for (const end of this.#ends.reverse()) await end()
  }

  /** What is wrong with a request that has reached the leader. */
  #check({ method = '', url = '', headers }: IncomingMessage): void {
    this.seen++
    const path = url.split('?', 1)[0]!
    const problems = [
      headers[forwardedHeader] !== forwardedToken(secret) && 'without the token for forwarded calls',
      headers[tokenHeader] !== undefined && 'with a token of the daemons',
      !/^\/api\/v1\/[\w.~!*'()%/-]+(?:\?[!-~]*)?$/.test(url) && 'a target of unusual characters',
      decodeURIComponent(path)
        .split(/[/\\]/)
        .some(part => part === '.' || part === '..') && 'dot segments',
      !this.#routes.find(method, path.slice('/api/v1'.length)) && 'a path that the router does not know',
      method === 'GET' && 'a read',
      Object.keys(headers).some(name => !known.has(name)) && `with the headers ${Object.keys(headers)}`,
      headers['x-forwarded-for'] !== '127.0.0.1' && 'from another address',
    ].filter(Boolean)
    if (problems.length > 0) this.wrong.push(`${method} ${url}: ${problems.join(', ')}`)
  }

  requests(seed: number): RawRequest[] {
    const random = dice(seed)
    const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!
    const authorization = `Authorization: Basic ${Buffer.from(this.daemon.owner.auth!).toString('base64')}`
    const target = () => {
      const filled = `/api/v1${pick(this.#patterns).replace(/\{[^}]*\}/g, () => pick(values))}`
      if (random() < 0.4) return filled
      if (random() < 0.2) return pick([...hostileTargets.refused, ...hostileTargets.missing])
      const at = Math.floor(random() * (filled.length + 1))
      return filled.slice(0, at) + pick(pieces) + (random() < 0.5 ? pick(pieces) : '') + filled.slice(at)
    }
    return Array.from({ length: perRound }, () => target()).map(path => ({
      target: `${path}${random() < 0.3 ? `?${pick(queries)}` : ''}`,
      // A poll makes the follower call the leader itself.
      method: pick(['POST', 'POST', 'PATCH', 'DELETE', 'PUT', ...(path.includes('events') ? [] : ['GET'])]),
      headers: [...(random() < 0.8 ? [authorization] : []), ...headers.filter(() => random() < 0.2)],
      body: pick(['', '', 'a=b', '%2e%2e=\\', '{"records":[]}']),
      way: pick(['short', 'node:http'] as const),
    }))
  }
}

/** Makes the one at this address the leader, for etcd and for all daemons. */
async function appoint(urls: readonly string[], peer: string): Promise<void> {
  const etcd = new Etcd({ urls })
  const key = encodeText(new Keys('natter').leader)
  await etcd.call('/v3/kv/put', { key, value: encodeText(JSON.stringify({ id: 'played', url: peer, peer })) })
  await etcd.close()
}

const known = new Set([...['host', 'connection', 'content-length', 'x-forwarded-for', forwardedHeader], ...apiHeaders])

const values = [
  ...[
    '1',
    '0',
    '99',
    'me',
    'a@b.c',
    'a%2Fb%40c.d',
    'a%2F..%2Fb',
    '..',
    '.',
    '%2e%2e',
    '%2e',
    '%2F',
    '%5c',
    '\\',
    '%00',
    '%',
  ],
  ...[
    '%E2%9C%94',
    '\xe2\x9c',
    'a b',
    'a%20b',
    ';',
    '..;',
    '%252e%252e',
    'x'.repeat(300),
    '-1',
    '1e9',
    '%c0%ae%c0%ae',
    '*',
    '~',
  ],
]
const pieces = [
  ...[
    '/',
    '//',
    '/../',
    '/./',
    '/..',
    '..',
    '%2e%2e/',
    '/%2e%2e%2f',
    '\\',
    '%5c',
    '..\\',
    '%2f',
    '/cluster/v1/record',
    '%00',
  ],
  ...[
    '\t',
    '#',
    '?',
    '@evil.example',
    'http://evil.example',
    ':9992',
    ';',
    '%',
    '%zz',
    '%0d%0a',
    '\x80',
    '\xff',
    '%252f',
    '&',
    '+',
  ],
]
const queries = [
  'a=b',
  '/../../cluster/v1/record',
  '%00',
  '\\..\\',
  'a=#b',
  '\xe9',
  '?',
  '',
  'x=http://evil.example/%0d%0a',
]
const headers = [
  `${forwardedHeader}: ${'0'.repeat(64)}`,
  `${tokenHeader}: ${'0'.repeat(64)}`,
  'X-Forwarded-For: 203.0.113.9',
  'natter-position: 999999999',
  'natter-not-leading: 1',
  'X-Original-URL: /cluster/v1/record',
  'Content-Type: application/x-www-form-urlencoded',
  'Idempotency-Key: k',
  'User-Agent: ZulipPython/1 \xe9',
  'Expect: 100-continue',
  'Upgrade: h2c',
  'Transfer-Encoding: chunked',
  'Forwarded: for=203.0.113.9',
]
