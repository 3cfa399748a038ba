// natter/testing: a daemon inside the test's own process, on a port of its own, gone when the test is; or a space of a
// daemon that runs elsewhere.

import { type Caller, captureCaller } from '../client/sender.ts'
import { attempt } from '../client/uncaught.ts'
import { startDaemon } from '../daemon.ts'
import { refuseUnknown } from '../local/did-you-mean.ts'
import { nameWarnings, warn } from '../local/warnings.ts'
import { SeedRefused } from '../seed/format.ts'
import { readConfig } from '../start/config.ts'
import { camelCase, UsageError } from '../start/flags.ts'
import { keepInNodeTest } from './keep.ts'
import type { Natter, SpaceOptions } from './natter.ts'
import { type RemoteNatter, type RemoteOptions, takeSpace } from './remote.ts'
import { createNatter } from './running-world.ts'

export type { BotHandler, Client } from '../client/index.ts'
export type { Call } from '../control/calls.ts'
export type { Delivery } from '../control/deliveries.ts'
export type { LoggedEvent } from '../control/events.ts'
export type { Fault, FaultRule } from '../control/faults.ts'
export type { Difference } from '../domain/difference/index.ts'
export type { ClientFinding } from '../local/findings.ts'
export type { Seed } from '../seed/format.ts'
export type { RunningBot } from './bot.ts'
export { keepOnFailure } from './keep.ts'
export type {
  Account,
  BotOptions,
  Duration,
  Explanation,
  Natter,
  Pattern,
  SpaceOptions,
  WaitOptions,
} from './natter.ts'
export type { RemoteNatter, RemoteOptions } from './remote.ts'

export interface NatterOptions extends Pick<SpaceOptions, 'seed' | 'clock' | 'secret' | 'dialect'> {
  /** `dev` (the default): a small named world; `empty`: an owner and nothing else. */
  readonly preset?: 'empty' | 'dev'
  readonly random?: string
  /** Feature level: a number from 417 to 509, a release such as '12.0', or 'latest'. NATTER_LEVEL by default, then 417. */
  readonly level?: number | string
  /** Reports what clients send that public servers refuse, ignore or have deprecated: `findings()`, and on stderr at the end. */
  readonly strict?: boolean
  readonly port?: number
  readonly rateLimit?: boolean
  readonly heartbeatSeconds?: number
  readonly logLevel?: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'silent'
}

/**
 * A daemon that is forgotten does not keep the test run alive: it is reported when the process ends. For a server that runs
 * by itself there is `natterd`. With `in`, the URL of a daemon that runs, a space of it: what asks for something then
 * returns a promise.
 */
export async function startNatter(options?: NatterOptions): Promise<Natter>
export async function startNatter(options: RemoteOptions): Promise<RemoteNatter>
export async function startNatter(options: NatterOptions | RemoteOptions = {}): Promise<Natter | RemoteNatter> {
  const caller = captureCaller(startNatter)
  return attempt<Promise<Natter | RemoteNatter>>(
    async () => ('in' in options ? takeSpace(options) : startHere(options, caller)),
    caller,
  )
}

async function startHere(options: NatterOptions, caller: Caller): Promise<Natter> {
  refuseUnknown('startNatter', options, optionNames)
  const forgotten = reportIfForgotten(caller)
  try {
    // The level only: `natter exec --levels` runs tests at several, and other variables are about its own daemon.
    const env = Object(options.seed).level === undefined ? { NATTER_LEVEL: process.env.NATTER_LEVEL } : {}
    const config = { ...readConfig(buildFlags(options), env), seed: options.seed }
    const daemon = await startDaemon(config, fail)
    daemon.unref()
    const stop = () => {
      forgotten.withdraw()
      return daemon.stop()
    }
    return createNatter({ world: daemon.world, url: daemon.localUrl, spaces: daemon.spaces, stop })
  } catch (error) {
    forgotten.withdraw()
    throw inOptions(error, options)
  }
}

/** An error about a flag of the daemon, about its port or about a seed that is no file, in the words of the options. */
function inOptions(error: unknown, { seed }: NatterOptions): unknown {
  const { code, message, port } = error as NodeJS.ErrnoException & { port?: number }
  if (code === 'EADDRINUSE') return new Error(`startNatter: port ${port} is in use; choose another, or 0`)
  if (error instanceof SeedRefused && typeof seed === 'object') return new TypeError(`startNatter: seed: ${message}`)
  if (!(error instanceof UsageError)) return error
  const option = (flag: string) => (flag === 'heartbeat' ? 'heartbeatSeconds' : camelCase(flag))
  return new TypeError(`startNatter: ${message.replace(/--([a-z-]+)/g, (_, flag: string) => option(flag))}`)
}

const optionNames = Object.keys({
  preset: 1,
  seed: 1,
  clock: 1,
  secret: 1,
  random: 1,
  dialect: 1,
  level: 1,
  strict: 1,
  port: 1,
  rateLimit: 1,
  heartbeatSeconds: 1,
  logLevel: 1,
} satisfies Record<keyof NatterOptions, 1>)

/** On stderr at the end of the process, unless withdrawn. */
function reportIfForgotten({ stack = '' }: Caller): { withdraw(): void } {
  const place = /^\s+at (.*)$/m.exec(stack)?.[1]
  const report = () =>
    warn(`a daemon was never stopped. Call stop() on what startNatter() returned${place ? `, at ${place}` : ''}`)
  process.once('exit', report)
  return { withdraw: () => void process.removeListener('exit', report) }
}

function buildFlags(options: NatterOptions): string[] {
  const { preset = 'dev', clock = 'real', logLevel = 'error', port = 0 } = options
  const flags = ['--memory', '--no-profile']
  const frozen = clock instanceof Date ? `frozen@${clock.toISOString()}` : clock
  const { secret, random, dialect, level, heartbeatSeconds: heartbeat } = options
  const values = { port, preset, 'log-level': logLevel, clock: frozen, secret, random, dialect, level, heartbeat }
  // With an equals sign, because a value may begin with a dash.
  for (const [name, value] of Object.entries(values)) if (value !== undefined) flags.push(`--${name}=${value}`)
  if (options.strict) flags.push('--strict')
  if (options.rateLimit) flags.push('--rate-limit')
  return flags
}

function fail(error: Error): void {
  throw error
}

nameWarnings('natter')
keepInNodeTest()
