// Two spaces of one daemon: the same calls are made twice in a quiet space, once while nothing else happens and once while
// another space is called, faulted, moved in time, reset, deleted and made again. No byte of any reply may differ.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Endpoint } from '../../daemon/api/define.ts'
import { catalogueEndpoints } from '../support/catalogue.ts'
import { Control } from '../support/control.ts'
import { type Caller, launch, type TestDaemon } from '../support/daemon.ts'
import { formOf, type HttpReply, send } from '../support/http.ts'
import { openSpace, type TestSpace } from '../support/spaces.ts'
import { type Campaign, dice, Failure } from './campaign.ts'
import { Values } from './fuzz/values.ts'

/** Calls in the quiet space, each made twice. A seed brings back a whole round. */
const round = 150
/** Programs that call the other space at the same time. */
const lanes = 4
const answerTimeout = 60_000
/** Work in the background ends when it ends: what it adds to the events depends on the time, and not on other spaces. */
const unsteady = ['export-realm']
const begin = { preset: 'dev', secret: 'the same in every round', clock: 'frozen@2030-01-01T00:00:00Z' }

export const campaign: Campaign = {
  about: 'the same calls in one space, alone and beside another space that is busy: no byte of a reply differs',
  unit: 'calls',
  long: 200_000,
  short: 100,
  async run({ count, seed, deadline = Number.POSITIVE_INFINITY, note = () => {}, progress = () => {} }) {
    const data = mkdtempSync(join(tmpdir(), 'natter-prove-'))
    const endpoints = (await catalogueEndpoints())
      .map(({ endpoint }) => endpoint)
      .filter(({ id, served }) => served !== 'outgoing' && id !== 'deactivate-realm')
    const steady = endpoints.filter(({ id }) => !unsteady.includes(id))
    const daemon = await launch(data, { flags: ['--memory', '--dev-auth'] })
    let done = 0
    let around = 0
    try {
      for (let number = seed; done < count && performance.now() < deadline; number++) {
        const alone = await talk(daemon, steady, number)
        const noise = new Noise(daemon, endpoints, number)
        const noisy = await talk(daemon, steady, number)
        around += await noise.end()
        compare(alone, noisy, number)
        done += alone.length
        progress(done)
        note(`${done} calls, ${around} beside them`)
      }
    } finally {
      await daemon.kill()
      rmSync(data, { recursive: true, force: true })
    }
    return { done, summary: `${around} calls in the other space at the same time` }
  },
}

interface Said {
  readonly call: string
  readonly answer: string
}

/** What a fresh space with the name `quiet` answers to the calls of this seed, and what its control plane then shows. */
async function talk(daemon: TestDaemon, endpoints: readonly Endpoint[], seed: number): Promise<Said[]> {
  const space = await openSpace(daemon, { ...begin, name: 'quiet' })
  const said: Said[] = []
  const random = dice(seed)
  const caller = new RandomCaller(space, endpoints, random)
  try {
    for (let i = 0; i < round; i++) said.push(await caller.call(seed))
    for (const path of ['/requests', '/events', '/queues', '/outbox', '/webhooks', '/faults', '/clock', '/accounts'])
      said.push({ call: `GET /control/v1${path}`, answer: textOf(await space.control.try('GET', path)) })
    return said
  } finally {
    await deleteSpace(daemon, 'quiet')
  }
}

async function deleteSpace(daemon: TestDaemon, name: string): Promise<void> {
  await new Control(daemon).call('DELETE', `/spaces/${name}`)
}

function compare(alone: readonly Said[], noisy: readonly Said[], seed: number): void {
  for (const [index, { call, answer }] of alone.entries()) {
    const other = noisy[index]
    if (other?.call === call && other.answer === answer) continue
    const shown = excerpts(answer, other?.answer ?? '')
    throw new Failure(seed, `${call}\nalone:  ${shown[0]}\nbeside: ${shown[1]}`)
  }
}

/** Of both, what is around the first byte that differs. */
function excerpts(one: string, other: string): [string, string] {
  let at = 0
  while (at < one.length && one[at] === other[at]) at++
  return [one.slice(Math.max(0, at - 300), at + 700), other.slice(Math.max(0, at - 300), at + 700)]
}

class RandomCaller {
  readonly #space: TestSpace
  readonly #endpoints: readonly Endpoint[]
  readonly #random: () => number
  readonly #callers: readonly Caller[]
  readonly #values: Values

  constructor(space: TestSpace, endpoints: readonly Endpoint[], random: () => number) {
    this.#space = space
    this.#endpoints = endpoints
    this.#random = random
    this.#callers = [space.owner, space.as('amy'), space.as('guy'), space.as('echo-bot')]
    const emails = new Set(this.#callers.map(({ email }) => email!))
    this.#values = new Values(random, { ids: new Set(this.#callers.map(({ id }) => id)), emails })
  }

  async call(seed: number): Promise<Said> {
    const endpoint = this.#endpoints[Math.floor(this.#random() * this.#endpoints.length)]!
    const caller = this.#callers[Math.floor(this.#random() * this.#callers.length)]!
    const path = this.#values.path(endpoint)
    const fields = this.#values.fields(endpoint)
    if (endpoint.id === 'get-events') fields.set('dont_block', 'true')
    const { method } = endpoint
    const call = `${method} ${path} as ${caller.email} in ${this.#space.name}`
    const signal = AbortSignal.timeout(answerTimeout)
    try {
      const reply = await send(`${caller.url}/api/v1${path}`, {
        method,
        auth: caller.auth,
        signal,
        ...formOf(method, fields),
      })
      return { call, answer: textOf(reply) }
    } catch (error) {
      throw new Failure(seed, `no answer (${(error as Error).message}): ${call}`)
    }
  }
}

/** Everything of an answer that a client can see, but for the time of day that node:http adds. */
function textOf({ status, headers: { date: _, ...headers }, text }: HttpReply): string {
  return `${status} ${text} ${JSON.stringify(headers)}`
}

/** A busy space beside the quiet one. */
class Noise {
  readonly #work: Promise<number>
  #ending = false

  constructor(daemon: TestDaemon, endpoints: readonly Endpoint[], seed: number) {
    this.#work = this.#make(daemon, endpoints, seed)
  }

  /** Resolves to the number of calls that were made. */
  end(): Promise<number> {
    this.#ending = true
    return this.#work
  }

  async #make(daemon: TestDaemon, endpoints: readonly Endpoint[], seed: number): Promise<number> {
    const space = await openSpace(daemon, { preset: 'dev', name: 'loud' })
    const calls = await Promise.all(
      Array.from({ length: lanes }, (_, lane) => this.#call(space, endpoints, dice(seed * lanes + lane + 1), seed)),
    )
    await deleteSpace(daemon, 'loud')
    return calls.reduce((sum, count) => sum + count, 0)
  }

  async #call(space: TestSpace, endpoints: readonly Endpoint[], random: () => number, seed: number): Promise<number> {
    const caller = new RandomCaller(space, endpoints, random)
    let count = 0
    while (!this.#ending) {
      await caller.call(seed)
      count++
      if (count % 20 === 0) await disturb(space.control, random)
    }
    return count
  }
}

/** What a test does with its world. A fault that hangs is left out: it would end the noise. */
async function disturb(control: Control, random: () => number): Promise<void> {
  const steps: readonly [method: string, path: string, body?: object][] = [
    ['POST', '/clock/advance', { by: '1d' }],
    ['POST', '/clock/freeze', {}],
    ['POST', '/clock/resume', {}],
    ['POST', '/faults', { kind: 'status', status: 503, times: 3 }],
    ['POST', '/faults', { kind: 'rate-limit', times: 2 }],
    ['POST', '/faults', { kind: 'latency', ms: 5, times: 5 }],
    ['DELETE', '/faults'],
    ['POST', '/snapshots', { name: 'one' }],
    ['POST', '/snapshots/one/restore', {}],
    ['POST', '/reset', {}],
    ['POST', '/queues/expire', {}],
  ]
  const [method, path, body] = steps[Math.floor(random() * steps.length)]!
  await control.try(method, path, body)
}
