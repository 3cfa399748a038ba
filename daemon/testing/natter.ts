// One world of a test: its accounts, its clock, and everything the control plane knows of it, without a network in between.

import { readFileSync } from 'node:fs'
import { patternIn } from '../api/pattern.ts'
import { eventTypeNames } from '../client/events.ts'
import type { BotHandler, Client } from '../client/index.ts'
import type { Call } from '../control/calls.ts'
import type { Delivery } from '../control/deliveries.ts'
import type { LoggedEvent } from '../control/events.ts'
import type { Fault, FaultRule } from '../control/faults.ts'
import type { ShownStep } from '../control/rule-names.ts'
import type { WantedSpace } from '../control/spaces.ts'
import type { Difference } from '../domain/difference/index.ts'
import { refuseUnknown, unknownName } from '../local/did-you-mean.ts'
import { parseDuration } from '../local/durations.ts'
import type { ClientFinding } from '../local/findings.ts'
import { harmless } from '../local/harmless.ts'
import { accountVariables } from '../local/profiles.ts'
import type { Seed } from '../seed/format.ts'
import type { RunningBot } from './bot.ts'

export interface Account {
  readonly userId: number
  readonly email: string
  readonly apiKey: string
}

/** Fields that must be there; texts such as `/ok/i` are patterns. */
export type Pattern = Readonly<Record<string, unknown>>

export interface WaitOptions {
  /** `5s` unless said. */
  readonly within?: Duration
  /** Only events that this person received. */
  readonly user?: string
}

/** An answer to "why", step by step. */
export interface Explanation {
  readonly summary: string
  /** False: the log no longer reaches back, and the steps are about the organization as it is now. */
  readonly complete: boolean
  readonly steps: readonly ShownStep[]
  /** Of a message: whether its event was put into a queue of the account; null: not known. */
  readonly received?: boolean | null
}

/** `10m`, `1h30m`, or a number of seconds. */
export type Duration = string | number

export interface BotOptions {
  /** The account, by name, address or ID; `echo-bot` unless said. */
  readonly as?: string | number
  /** Whether it gets every message that it can see; only those for it unless said. */
  readonly all?: boolean
  /** How long the handler may take for one message; `5s` unless said, since `stop()` waits so long for one that hangs. */
  readonly within?: Duration
}

export interface Natter extends AsyncDisposable {
  readonly url: string
  readonly owner: Client
  /** The control plane's, for other programs that talk to this daemon. */
  readonly controlToken: string
  /** By name (`amy`), address or ID. */
  as(user: string | number): Client
  account(user: string | number): Account
  /** Variables by which programs find the account: NATTER_* and ZULIP_*. */
  env(user: string | number): Record<string, string>
  /** Runs the function of a bot as an account until it or the daemon is stopped. */
  runBot(handler: BotHandler, options?: BotOptions): Promise<RunningBot>
  readonly clock: {
    now(): Date
    freeze(): void
    resume(): void
    /** Fires everything that falls due on the way, in order, and returns when it is done. */
    advance(by: Duration): Promise<void>
    set(to: Date): Promise<void>
  }
  /** The first event that fits, since the start or the last reset. Rejects with what came closest. */
  waitFor(event: Pattern, options?: WaitOptions): Promise<Record<string, any>>
  /** The same for a call of the API. */
  waitForCall(call: Pattern, options?: Pick<WaitOptions, 'within'>): Promise<Call>
  /**
   * Resolves when an account listens, with a poll that waits for events. A test waits for a bot that another program runs, and then
   * writes to it.
   */
  waitForListener(user: string | number, options?: Pick<WaitOptions, 'within'>): Promise<void>
  readonly faults: {
    add(rule: FaultRule): Fault
    list(): Fault[]
    remove(id: number): void
    clear(): void
  }
  /**
   * Whether the account received the message and, if not, which step kept it from that; with `{ call }`, why a call was
   * refused. Computed from what was true at that time.
   */
  why(of: number | { readonly call: number }, user?: string | number): Explanation
  requests(): Call[]
  /** What clients sent that public servers refuse, ignore or have deprecated. Needs the option `strict`; a reset keeps it. */
  findings(): ClientFinding[]
  /** Empties the log of calls. */
  forgetRequests(): void
  events(): LoggedEvent[]
  /** Deliveries to the servers of outgoing webhook bots, oldest first. */
  webhooks(): Delivery[]
  /** The first delivery that fits, tried at least once. Rejects with what came closest. */
  waitForWebhook(delivery: Pattern, options?: Pick<WaitOptions, 'within'>): Promise<Delivery>
  outbox(): { to: string; subject: string; text: string }[]
  /** Everything as it was at the start. */
  reset(): Promise<void>
  save(snapshot: string): void
  restore(snapshot: string): Promise<void>
  /** What a piece of code changes in the organization, by resource; an assertion can compare it. */
  changed(work: () => unknown): Promise<Difference>
  /** Writes calls, events, queues, clock and a snapshot to a folder; `natter exec --resume` starts from it. */
  keep(
    folder: string,
    why?: { readonly test?: string; readonly file?: string | undefined; readonly error?: unknown },
  ): Promise<void>
  /** Another organization in the same daemon, with its own clock, faults, requests and outbox. Made in milliseconds. */
  space(options?: SpaceOptions): Promise<Natter>
  /** A space is deleted, a daemon ends with all its spaces. */
  stop(): Promise<void>
}

export interface SpaceOptions {
  /** The last part of its URL; the daemon chooses one if omitted. */
  readonly name?: string
  /** As the daemon's own unless said. */
  readonly preset?: 'empty' | 'dev'
  /** A file in JSON or YAML, or its content as an object. */
  readonly seed?: string | Seed
  /** Begins as this snapshot of the daemon, or of the space in `from`. */
  readonly snapshot?: string
  /** The name of another space to begin as a copy of; `main` is the daemon itself. */
  readonly from?: string
  /** `frozen` stops time now, a date at that moment. */
  readonly clock?: 'real' | 'frozen' | Date
  /** Makes keys and queue IDs the same in every run. */
  readonly secret?: string
  readonly dialect?: 'auto' | 'spec' | 'zulip'
  /** Feature level: a number from 417 to 509, a release such as '12.0', or 'latest'. As the daemon's own unless said. */
  readonly level?: number | string
  /** As the daemon's own unless said. */
  readonly strict?: boolean
}

/** Things that `changed` lists. */
export const mostDifferences = 100_000

/** Options of a program as the control plane takes them. */
export function wantedSpace(where: string, options: SpaceOptions = {}): WantedSpace {
  refuseUnknown(where, options, spaceOptionNames)
  const { clock, seed, ...rest } = options
  return {
    ...rest,
    ...(clock !== undefined && { clock: clock instanceof Date ? `frozen@${clock.toISOString()}` : clock }),
    ...(seed !== undefined && { seed: typeof seed === 'string' ? readSeed(where, seed) : { ...seed } }),
  }
}

function readSeed(where: string, file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new TypeError(`${where}: the seed ${file} cannot be read: ${(error as NodeJS.ErrnoException).code}`)
  }
}

const spaceOptionNames = Object.keys({
  name: 1,
  preset: 1,
  seed: 1,
  snapshot: 1,
  from: 1,
  clock: 1,
  secret: 1,
  dialect: 1,
  level: 1,
  strict: 1,
} satisfies Record<keyof SpaceOptions, 1>)

/** Variables by which programs find the account. */
export function buildVariables(site: string, { email, apiKey }: Account): Record<string, string> {
  return Object.fromEntries(accountVariables({ SITE: site, EMAIL: email, API_KEY: apiKey }))
}

/** A daemon that does not keep the process alive must still finish what the test awaits. */
export async function keepingAlive<T>(work: T | Promise<T>): Promise<T> {
  const hold = setInterval(() => {}, 2 ** 30)
  try {
    return await work
  } finally {
    clearInterval(hold)
  }
}

/** What a wait can be for, and the function that waits for it. */
const waits = { event: 'waitFor', call: 'waitForCall', webhook: 'waitForWebhook' } as const
export type WaitKind = keyof typeof waits

/** Refuses at once what could never come, and options that would be ignored. */
export function checkWait(kind: WaitKind, wanted: Pattern, options: WaitOptions): void {
  const where = waits[kind]
  if (typeof wanted !== 'object' || wanted === null)
    throw new TypeError(`${where}: give the fields of the ${kind} as an object, such as ${examples[kind]}`)
  refuseUnknown(where, options, kind === 'event' ? ['within', 'user'] : ['within'])
  const { type } = wanted
  if (kind === 'event' && typeof type === 'string' && !type.startsWith('/') && !eventTypeNames.includes(type))
    throw new TypeError(`${where}: ${unknownName('event type', type, eventTypeNames)}`)
}

/** For callers without a type checker. */
export function checkWhy(of: unknown): asserts of is number | { readonly call: number } {
  if (typeof of === 'number' || typeof Object(of).call === 'number') return
  throw new TypeError(
    "why: give the ID of a message and an account, such as why(7, 'bob'), or a call: why({ call: 7 })",
  )
}

const examples: Readonly<Record<WaitKind, string>> = {
  event: "{ type: 'message' }",
  call: '{ status: 400 }',
  webhook: "{ bot: 'echo-bot' }",
}

/** The milliseconds of a wait until an account listens, and the error if it does not. */
export function readListenerWait(user: string | number, options: Pick<WaitOptions, 'within'> = {}) {
  refuseUnknown('waitForListener', options, ['within'])
  const { within = '5s' } = options
  const time = typeof within === 'number' ? `${within} s` : within
  return {
    ms: milliseconds('within', within),
    missed: () =>
      new Error(`${user} did not poll for events within ${time}. Is the bot running, with the key of ${user}?`),
  }
}

export function explainMiss(
  kind: WaitKind,
  wanted: Pattern,
  near: readonly { readonly differs: readonly string[] }[],
  user?: string,
): string {
  const closest = near.map(({ differs }) => harmless(`  - ${differs.join('; ')}`))
  const reader = user === undefined ? '' : ` for ${user}`
  const seen = closest.length > 0 ? `The closest were:\n${closest.join('\n')}` : `There was no ${kind} at all${reader}.`
  return `no ${kind}${reader} matched ${JSON.stringify(wanted)}. ${seen}${kind === 'event' ? adviseField(wanted) + adviseListener(wanted) : ''}`
}

function adviseField({ message }: Pattern): string {
  return 'topic' in Object(message) ? '\nIn the messages of events, the topic is called `subject`.' : ''
}

/** A message that was sent before its bot listened is not answered. */
function adviseListener({ message }: Pattern): string {
  const sender = (message as Pattern | undefined)?.sender_email
  if (typeof sender !== 'string' || patternIn(sender)) return ''
  return `\nIf the sender is a bot that another program runs, wait until it listens before you write to it: await natter.waitForListener('${sender}')`
}

/** `name`: the option or parameter that it is. */
export function milliseconds(name: string, given: Duration): number {
  const ms = typeof given === 'number' ? given * 1000 : parseDuration(given)
  if (ms === undefined || !(ms >= 0)) throw new TypeError(`${name}: "${given}" is not a time such as 10m or 1h30m`)
  return Math.round(ms)
}

export function forward(now: number, to: number): number {
  if (!(to >= now)) throw new RangeError(`it is ${new Date(now).toISOString()} already; time goes back by reset only`)
  return to
}
