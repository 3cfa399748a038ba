// The direct server against node:http: the same bytes to a daemon and to one whose every request node:http reads.
// Answers must agree in number, order, status, headers and body.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Daemon, startDaemon } from '../../daemon/daemon.ts'
import { readConfig } from '../../daemon/start/config.ts'
import { type Campaign, Failure } from './campaign.ts'
import { makeConversation, type Piece } from './http/conversation.ts'
import { type Heard, hold, type Listening, type Manner } from './http/talk.ts'

/** Conversations held at the same time. Each has two servers of its own: the answers depend on what was written before. */
const lanes = 16
/** Conversations until a lane gets new servers: what was written stays in memory. */
const perPair = 2000

export const campaign: Campaign = {
  about: 'requests, damaged and cut anywhere, answered alike by the direct server and by node:http',
  unit: 'requests',
  long: 1_000_000,
  short: 500,
  async run({ count, seed, deadline = Number.POSITIVE_INFINITY, note = () => {}, progress = () => {} }) {
    const folder = mkdtempSync(join(tmpdir(), 'natter-prove-'))
    const total = new Tally()
    const next = { seed }
    let told = 0
    const talk = async (lane: number) => {
      const isOver = () => total.done >= count || performance.now() >= deadline
      while (!isOver()) {
        const pair = await startPair(mkdtempSync(join(folder, `${lane}-`)))
        try {
          for (let held = 0; held < perPair && !isOver(); held++) {
            await holdBoth(pair, next.seed++, total)
            if (total.done - told < count / 20) continue
            told = total.done
            progress(total.done)
            note(`${total.done} requests, ${total.answers} answers`)
          }
        } finally {
          await pair.stop()
        }
      }
    }
    try {
      // Two servers take as long to start as some hundred requests.
      await Promise.all(Array.from({ length: Math.min(lanes, Math.ceil(count / 2500)) }, (_, lane) => talk(lane)))
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
    return { done: total.done, summary: total.summary() }
  },
}

/** What was seen in all conversations. */
class Tally {
  done = 0
  answers = 0
  askedTwice = 0
  readonly #statuses = new Map<string, number>()

  add(requests: number, { text, answers }: Heard): void {
    this.done += requests
    this.answers += answers
    for (const [, status] of text.matchAll(/HTTP\/1\.1 (\d{3}) [A-Z]/g))
      this.#statuses.set(status!, (this.#statuses.get(status!) ?? 0) + 1)
  }

  summary(): string {
    const tally = [...this.#statuses].sort().map(([status, number]) => `${number} × ${status}`)
    return `${this.answers} answers (${tally.join(', ')}), asked twice ${this.askedTwice} times`
  }
}

/** The same conversation with both servers. */
async function holdBoth({ short, plain }: Pair, seed: number, total: Tally): Promise<void> {
  const conversation = makeConversation(seed, short.ready.owner)
  const both = (manner?: Manner) =>
    Promise.all([short, plain].map(daemon => hold(listeningOf(daemon), conversation, manner)))
  let [one, other] = (await both()) as [Heard, Heard]
  if (!alike(one, other)) {
    const isCutOff = areCutOff(one, other)
    if (!mayBeSlow(one, other) && !isCutOff) throw new Failure(seed, difference(conversation.pieces, one, other))
    total.askedTwice++
    ;[one, other] = (await both({ silence: 1000, isCalm: isCutOff })) as [Heard, Heard]
    if (!alike(one, other)) throw new Failure(seed, difference(conversation.pieces, one, other))
  }
  if (/HTTP\/1\.1 5\d\d [A-Z]/.test(one.text)) throw new Failure(seed, `a status of 5xx:\n${one.text}`)
  total.add(conversation.requests, one)
}

interface Pair {
  readonly short: Daemon
  readonly plain: Daemon
  stop(): Promise<void>
}

async function startPair(folder: string): Promise<Pair> {
  const [short, plain] = await Promise.all([start(join(folder, 'a')), start(join(folder, 'b'), '--plain-http')])
  // The first request for a page waits until the code for pages is loaded, in each of them for another time.
  await Promise.all([short, plain].map(({ localUrl }) => fetch(`${localUrl}/static/icon.svg`)))
  return {
    short,
    plain,
    async stop() {
      await Promise.all([short.stop(), plain.stop()])
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/**
 * The same organization, clock and randomness each time, so that equal requests have equal answers. On a disk: writes are
 * answered some turns later, when more may have arrived.
 */
function start(data: string, ...flags: string[]): Promise<Daemon> {
  const same = ['--secret', 'the same in both', '--random', 'too', '--clock', 'frozen@2030-01-01T00:00:00Z']
  const quiet = ['--url', 'http://127.0.0.1', '--port', '0', '--log-level', 'silent', '--no-rate-limit']
  const args = ['--data', data, '--durability', 'os', ...same, ...quiet, ...flags]
  return startDaemon(readConfig(args, {}), fail)
}

function fail(error: Error): never {
  throw error
}

function listeningOf({ localUrl, world }: Daemon): Listening {
  return { port: Number(new URL(localUrl).port), settled: () => world.engine.settled() }
}

function alike(one: Heard, other: Heard): boolean {
  if (one.closed !== other.closed) return false
  if (one.text === other.text) return true
  // What TCP dropped with a reset is the end of what was sent.
  return (one.reset && other.text.startsWith(one.text)) || (other.reset && one.text.startsWith(other.text))
}

/** One of them has said the beginning of what the other has said. Anything else is a difference, even if it does not come again. */
function mayBeSlow(one: Heard, other: Heard): boolean {
  return one.text.startsWith(other.text) || other.text.startsWith(one.text)
}

/**
 * One ended with the refusal of noise, and the other answered the request whose body the noise cut off: that depends on what came
 * first, its head alone or the noise with it. With time between the two they must agree.
 */
function areCutOff(one: Heard, other: Heard): boolean {
  if (!one.closed || !other.closed || Math.abs(one.answers - other.answers) > 1) return false
  const [a, b] = [one, other].map(beforeNoise) as [string | undefined, string | undefined]
  return (a !== undefined && other.text.startsWith(a)) || (b !== undefined && one.text.startsWith(b))
}

function beforeNoise({ text }: Heard): string | undefined {
  const last = text.lastIndexOf('HTTP/1.1 400 Bad Request')
  return last >= 0 && text.slice(last).includes('The request is not valid HTTP.') ? text.slice(0, last) : undefined
}

function difference(pieces: readonly Piece[], one: Heard, other: Heard): string {
  const written = pieces
    .map(({ bytes, turns, stall }) => {
      const text = JSON.stringify(bytes.toString('latin1').slice(0, 2000))
      return `after ${turns} turns and ${stall.toFixed(2)} ms: ${text}`
    })
    .join('\n  ')
  const shown = ({ text, closed }: Heard) => `${JSON.stringify(text.slice(0, 4000))} ${closed ? 'closed' : 'open'}`
  return `the two servers disagree\nwritten:\n  ${written}\ndirect server: ${shown(one)}\nnode:http: ${shown(other)}`
}
