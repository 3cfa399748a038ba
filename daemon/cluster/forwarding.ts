// Sends writes that reach a follower on to the leader. Answers when the follower has applied them too, so that each client reads
// its own writes.

import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { Refusal } from '../domain/refusal.ts'
import { createAnswering, refuse } from '../http/answer.ts'
import type { Answering, ForwardedCall, Forwarding, RequestHead, Response } from '../http/exchange.ts'
import { prefix } from '../http/incoming.ts'
import { warn } from '../local/warnings.ts'
import { connectTimeout } from './connections.ts'
import { FairLimit } from './fair-limit.ts'
import { leaderTimeout } from './known-cluster.ts'
import type { Peers } from './peers.ts'

interface ForwardingParts {
  readonly peers: Peers
  readonly newId: () => string
  leads(): boolean
  /** The address of the leader; waits a few seconds for one. */
  leader(): Promise<string | undefined>
  /** The address of the leader, if it is known now. */
  leaderNow(): string | undefined
  /** Position of the newest entry that is committed and applied here. */
  committed(): number
  /** Waits until this daemon is at the position. */
  reach(position: number): Promise<boolean>
  /** Waits until this daemon has applied what is in the log now. */
  catchUp(): Promise<boolean>
}

/** The newest committed position, in the answer to a forwarded request. */
const positionHeader = 'natter-position'
/** Set when the daemon that was asked does not lead, and so has done nothing. */
const notLeadingHeader = 'natter-not-leading'

/** Milliseconds that the leader has for its whole answer to a call. */
const answerTimeout = 60_000
/** Calls to the leader at a time: of one account, of all accounts, and of all callers without one. There are 256 connections. */
const mostOfAccount = 64
const mostOfAccounts = 240
const mostUnknown = 8

export class LeaderForwarding implements Forwarding {
  readonly #parts: ForwardingParts
  readonly #accounts = new FairLimit(mostOfAccount, mostOfAccounts)
  readonly #unknown = new FairLimit(mostUnknown)
  readonly #underWay = new Set<Promise<void>>()
  readonly #answerTimeout: number
  /** The address of the leader that calls could not be sent on to, once the log says so. */
  #unreached: string | undefined

  constructor(parts: ForwardingParts, timeout = answerTimeout) {
    this.#parts = parts
    this.#answerTimeout = timeout
  }

  /** Reads, polls included, are answered here. */
  mustForward(method: string): boolean {
    return method !== 'GET' && !this.#parts.leads()
  }

  catchUp(): Promise<boolean> {
    return this.#parts.catchUp()
  }

  /** Refuses a forwarded request if this daemon does not lead; otherwise adds the position to its answer. */
  admit({ method }: RequestHead, response: Response): boolean {
    if (!this.#parts.leads()) {
      const to = createAnswering({ method: method!, id: this.#parts.newId() }, response)
      this.#refuse(to, 'This daemon does not lead its cluster.', [notLeadingHeader, '1', ...tryAgain])
      return false
    }
    const writeHead = response.writeHead.bind(response)
    response.writeHead = (status, headers) =>
      writeHead(status, [...headers, positionHeader, String(this.#parts.committed())])
    return true
  }

  forward(call: ForwardedCall, answering: Answering): Promise<void> {
    const limit = call.account === undefined ? this.#unknown : this.#accounts
    const work = limit.run(call.account, call.body?.held ?? 0, () => this.#forward(call, answering))
    const ended = work.finally(() => this.#underWay.delete(ended))
    this.#underWay.add(ended)
    return ended
  }

  /** A leader that hangs may never answer. */
  async settled(): Promise<void> {
    await Promise.race([Promise.allSettled(this.#underWay), sleep(leaderTimeout, undefined, { ref: false })])
  }

  async #forward(call: ForwardedCall, answering: Answering): Promise<void> {
    const end = performance.now() + leaderTimeout
    // Until the client closes its connection.
    while (!answering.raw.destroyed) {
      const url = await this.#parts.leader()
      if (url === undefined) return this.#refuse(answering, noLeader)
      const answer = await this.#ask(url, call).catch((error: Error) => error)
      const nothingDone = answer instanceof Error ? wasNeverSent(answer) : answer.notLeading
      if (!nothingDone) this.#unreached = undefined
      if (nothingDone && performance.now() < end) await sleep(100)
      else if (nothingDone) return this.#refuseUnreached(answering, url, answer)
      else if (answer instanceof Error && isRegistration(call)) return this.#refuse(answering, notRegistered)
      else if (answer instanceof Error) return this.#refuse(answering, noAnswer, [])
      else return this.#relay(answering, answer)
    }
  }

  async #ask(url: string, call: ForwardedCall): Promise<Answer> {
    const { peers, leaderNow } = this.#parts
    const end = performance.now() + this.#answerTimeout
    const giveUp = new AbortController()
    const leaderCheck = setInterval(() => {
      const now = leaderNow()
      // A leader that was paused keeps its connections; another one leads meanwhile, or no daemon does.
      if (now !== undefined && now !== url) giveUp.abort(new Error('another daemon leads the cluster'))
      else if (performance.now() > end) giveUp.abort(new Error('no answer in time'))
    }, 250)
    try {
      const response = await peers.forward(url, call, giveUp.signal)
      return {
        status: response.statusCode!,
        headers: response.headers,
        notLeading: response.headers[notLeadingHeader] !== undefined,
        body: await buffer(response),
      }
    } finally {
      clearInterval(leaderCheck)
    }
  }

  async #relay(answering: Answering, { status, headers, body }: Answer): Promise<void> {
    const { raw: response, observed } = answering
    const position = Number(headers[positionHeader] ?? 0)
    const isThere = await this.#parts.reach(position)
    if (!isThere && status < 400) return this.#refuse(answering, fallenBehind, [])
    if (response.headersSent || response.destroyed) return
    observed?.answered(status)
    response.writeHead(status, relayedHeaders(headers))
    response.end(body)
  }

  #refuseUnreached(to: Answering, url: string, answer: Answer | Error): void {
    const reason = answer instanceof Error ? answer.message : 'the daemon that answers there does not lead'
    if (this.#unreached !== url)
      warn(
        `the leader of the cluster cannot be reached at ${url}: ${reason}. If it runs, check the network and the flags --cluster-listen and --cluster-advertise there`,
      )
    this.#unreached = url
    this.#refuse(to, leaderUnreached)
  }

  #refuse(to: Answering, msg: string, headers: readonly string[] = tryAgain): void {
    to.headers.push(...headers)
    refuse(to, new Refusal(msg, { code: 'SERVER_NOT_READY', status: 503 }))
  }
}

interface Answer {
  readonly status: number
  readonly headers: Record<string, string | string[] | undefined>
  readonly notLeading: boolean
  readonly body: Buffer
}

/** Not sent where the change may have been saved: a repeat could save it twice. */
const tryAgain = ['Retry-After', '1']

const noLeader = 'No daemon leads this cluster at the moment. Try again in a few seconds.'
export const leaderUnreached = 'The leader of the cluster cannot be reached at the moment. Try again in a few seconds.'
const noAnswer =
  'The leader of the cluster did not answer, so your change may or may not have been saved. Check before you repeat it.'
const notRegistered =
  'The leader of the cluster did not answer. Register again: a queue that no client polls ends by itself.'
const fallenBehind =
  'Your change was saved, but this daemon has not received it yet. Do not repeat it. To see it, wait a few seconds or ask another daemon of the cluster.'

/** Registering can be repeated: it makes one more queue and changes nothing else. */
function isRegistration({ method, path }: ForwardedCall): boolean {
  return method === 'POST' && path.split('?', 1)[0] === `${prefix}/register`
}

/** Whether no connection was made. The code alone does not tell: a connection that was in use can end with EHOSTUNREACH, too. */
export function wasNeverSent(error: Error): boolean {
  const first = error instanceof AggregateError ? error.errors[0] : error
  const { code, syscall = '' } = first as NodeJS.ErrnoException
  return code === connectTimeout || ['connect', 'getaddrinfo'].includes(syscall)
}

/** Of one connection, or set by the daemon that answers. */
const ownHeaders = new Set([
  'connection',
  'keep-alive',
  'transfer-encoding',
  'upgrade',
  'host',
  'expect',
  'te',
  'trailer',
  'date',
  positionHeader,
])

function relayedHeaders(headers: Answer['headers']): string[] {
  return Object.entries(headers).flatMap(([name, value = []]) =>
    ownHeaders.has(name) ? [] : [value].flat().flatMap(one => [name, one]),
  )
}
