// Flags, environment, defaults. Every flag is also an environment variable: --log-level is NATTER_LOG_LEVEL.

import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'

export interface Config {
  readonly data: string
  readonly memory: boolean
  readonly host: string
  readonly port: number
  readonly url: string | undefined
  readonly durability: 'fsync' | 'os'
  readonly owner: string | undefined
  readonly org: string | undefined
  readonly readyFile: string | undefined
  readonly json: boolean
  readonly logLevel: string
  readonly rateLimit: boolean
  readonly secret: string | undefined
  /** Whether to go on when the store's secret is missing or not the one it was used with. */
  readonly newSecret: boolean
  readonly devAuth: boolean
  readonly clock: { readonly frozenAt: number | 'now' } | 'real'
  readonly dialect: 'natter' | 'zulip'
  readonly profile: boolean
  readonly maxQueues: number
  readonly maxPending: number
  /** Whether an organization that was deactivated comes back. */
  readonly reactivate: boolean
  readonly smtpUrl: string | undefined
  /** Whether outgoing webhooks may go to private networks. */
  readonly webhookPrivate: boolean
  /** Seconds the server of a bot has to answer. */
  readonly webhookTimeout: number
  /** MiB; undefined: no limit. */
  readonly uploadQuota: number | undefined
  /** Seconds a poll waits for its heartbeat; undefined: 45 to 55, by chance. */
  readonly heartbeat: number | undefined
  /** Whether the fixture desk is open. */
  readonly control: boolean
  /** A file, or what would stand in one. */
  readonly seed: string | object | undefined
  readonly preset: 'empty' | 'dev'
  /** Where randomness starts from; undefined: nobody knows. */
  readonly random: string | undefined
}

export class UsageError extends Error {}

interface Flag {
  readonly takes?: string
  readonly about: string
  readonly fallback?: string
}

/** The order is that of the help text. */
export const flags = {
  data: { takes: 'DIR', about: 'folder of the store; created when it is not there' },
  memory: { about: 'keep everything in memory: nothing is read from or written to a store' },
  host: { takes: 'ADDRESS', about: 'address to listen on', fallback: '127.0.0.1' },
  port: { takes: 'PORT', about: 'port to listen on; 0 lets the system choose', fallback: '9991' },
  url: { takes: 'URL', about: 'what clients call the server, when it stands behind a proxy' },
  durability: {
    takes: 'fsync|os',
    about: 'fsync: an answered write survives a power failure; os: it survives a crash of the daemon only',
    fallback: 'fsync',
  },
  owner: { takes: 'EMAIL', about: 'address of the owner of a new organization' },
  org: { takes: 'NAME', about: 'name of a new organization' },
  'ready-file': { takes: 'FILE', about: 'written when the daemon answers: JSON with url, pid and the owner’s key' },
  json: { about: 'print the same JSON as one line on stdout instead of the banner' },
  'log-level': { takes: 'LEVEL', about: 'trace, debug, info, warn, error or silent', fallback: 'warn' },
  'rate-limit': { about: 'limit how often a caller may ask; the default unless bound to loopback' },
  'no-rate-limit': { about: 'do not' },
  secret: { takes: 'TEXT', about: 'derive all API keys from this text, so that they can be known beforehand' },
  'new-secret': { about: 'start although the secret of the store is missing or has changed; all API keys change' },
  'dev-auth': { about: 'give out API keys without a password; for development only' },
  clock: { takes: 'real|frozen|frozen@TIME', about: 'stop time, now or at an ISO 8601 time', fallback: 'real' },
  'max-queues': { takes: 'N', about: 'event queues one user may have', fallback: '1000' },
  'max-pending': {
    takes: 'N',
    about: 'events a queue may hold unread; one more ends the queue, and its client registers again',
    fallback: '20000',
  },
  reactivate: { about: 'bring back an organization that its owner deactivated' },
  'smtp-url': {
    takes: 'URL',
    about: 'server that sends mail, such as smtp://user:password@host:587; without it mails stay in the store’s outbox',
  },
  'webhook-private': { about: 'let outgoing webhooks call addresses of private networks and of this machine' },
  'webhook-timeout': { takes: 'SECONDS', about: 'how long the server of a bot has to answer', fallback: '10' },
  'upload-quota': { takes: 'MIB', about: 'room for the uploads of the organization; by default there is no limit' },
  heartbeat: { takes: 'SECONDS', about: 'how long a poll waits before it gets a heartbeat; by default 45 to 55' },
  dialect: {
    takes: 'natter|zulip',
    about: 'zulip: use the public names of the API family, so that its clients work unmodified',
    fallback: 'natter',
  },
  preset: { takes: 'empty|dev', about: 'what a new organization holds; dev: a small named world', fallback: 'empty' },
  seed: { takes: 'FILE', about: 'JSON or YAML with what a new organization holds' },
  random: { takes: 'SEED', about: 'make queue IDs and chance reproducible; follows from --secret with --memory' },
  control: { about: 'open the control plane for tests, /control/v1; the default with --memory' },
  'no-profile': { about: 'do not write the profile that lets `natter` find this daemon' },
  help: { about: 'show this' },
  version: { about: 'show the version' },
} as const satisfies Record<string, Flag>

export type FlagName = keyof typeof flags

export function readConfig(args: readonly string[], env: NodeJS.ProcessEnv): Config {
  const given = parse(args)
  const value = (name: FlagName): string | undefined => {
    const flag: Flag = flags[name]
    return (given[name] as string | undefined) ?? (env[variableOf(name)] || undefined) ?? flag.fallback
  }
  const on = (name: FlagName): boolean =>
    given[name] === true || ['1', 'true', 'yes'].includes(env[variableOf(name)] ?? '')
  const host = value('host')!
  return {
    data: resolve(value('data') ?? defaultData(env)),
    memory: on('memory'),
    host,
    port: integer('port', value('port')!, 65535),
    url: value('url')?.replace(/\/+$/, ''),
    durability: choice('durability', value('durability')!, ['fsync', 'os']),
    owner: address(value('owner')),
    org: value('org'),
    readyFile: value('ready-file') && resolve(value('ready-file')!),
    json: on('json'),
    logLevel: choice('log-level', value('log-level')!, ['trace', 'debug', 'info', 'warn', 'error', 'silent']),
    rateLimit: on('rate-limit') || (!on('no-rate-limit') && !isLoopback(host)),
    secret: value('secret'),
    newSecret: on('new-secret'),
    devAuth: on('dev-auth'),
    clock: clock(value('clock')!),
    dialect: choice('dialect', value('dialect')!, ['natter', 'zulip']),
    profile: !on('no-profile'),
    reactivate: on('reactivate'),
    maxQueues: integer('max-queues', value('max-queues')!, 1_000_000),
    maxPending: integer('max-pending', value('max-pending')!, 1_000_000),
    smtpUrl: smtpUrl(value('smtp-url')),
    webhookPrivate: on('webhook-private'),
    webhookTimeout: integer('webhook-timeout', value('webhook-timeout')!, 600),
    uploadQuota: value('upload-quota') === undefined ? undefined : integer('upload-quota', value('upload-quota')!, 1e9),
    heartbeat: value('heartbeat') === undefined ? undefined : integer('heartbeat', value('heartbeat')!, 600),
    control: on('control') || on('memory'),
    seed: value('seed') && resolve(value('seed')!),
    preset: choice('preset', value('preset')!, ['empty', 'dev']),
    random: value('random') ?? (on('memory') ? value('secret') : undefined),
  }
}

export function variableOf(flag: string): string {
  return `NATTER_${flag.toUpperCase().replaceAll('-', '_')}`
}

export function wants(args: readonly string[], flag: 'help' | 'version'): boolean {
  return args.includes(`--${flag}`) || (flag === 'help' && args.includes('-h'))
}

export function helpText(): string {
  const lines = Object.entries(flags as Record<string, Flag>).map(([name, { takes, about, fallback }]) => {
    const usage = `  --${name}${takes ? ` ${takes}` : ''}`
    return `${usage.padEnd(34)}${about}${fallback ? ` (default ${fallback})` : ''}`
  })
  return `Usage: natterd [flags]

Runs the chat daemon in the foreground until it is told to stop (SIGTERM or Ctrl-C).
Every flag is also an environment variable: --log-level is NATTER_LOG_LEVEL.

${lines.join('\n')}

Examples:
  natterd --data ./store
  natterd --memory --port 0 --ready-file ready.json
`
}

function parse(args: readonly string[]): Record<string, string | boolean | undefined> {
  const options = Object.fromEntries(
    Object.entries(flags as Record<string, Flag>).map(([name, flag]) => [
      name,
      { type: flag.takes ? ('string' as const) : ('boolean' as const) },
    ]),
  )
  try {
    return parseArgs({ args: [...args], options, strict: true, allowPositionals: false }).values as never
  } catch (error) {
    throw new UsageError((error as Error).message.split('. To specify')[0]!)
  }
}

function defaultData(env: NodeJS.ProcessEnv): string {
  return join(env.XDG_DATA_HOME || join(homedir(), '.local', 'share'), 'natter', 'store')
}

function integer(flag: string, text: string, max: number): number {
  const value = Number(text)
  if (!/^\d+$/.test(text) || value > max)
    throw new UsageError(`--${flag} takes a number from 0 to ${max}, not '${text}'`)
  return value
}

function choice<const C extends string>(flag: string, text: string, choices: readonly C[]): C {
  if (!choices.includes(text as C)) throw new UsageError(`--${flag} takes ${choices.join(', ')}, not '${text}'`)
  return text as C
}

function address(text: string | undefined): string | undefined {
  if (text !== undefined && !/^[^\s@]+@[^\s@]+$/.test(text))
    throw new UsageError(`--owner takes an email address, not '${text}'`)
  return text
}

function smtpUrl(text: string | undefined): string | undefined {
  // Not repeated in the message: it may hold a password.
  if (text !== undefined && !/^smtps?:\/\/[^\s/]+/.test(text))
    throw new UsageError('--smtp-url takes smtp://… or smtps://…')
  return text
}

function clock(text: string): Config['clock'] {
  if (text === 'real') return 'real'
  if (text === 'frozen') return { frozenAt: 'now' }
  const time = text.startsWith('frozen@') ? Date.parse(text.slice('frozen@'.length)) : Number.NaN
  if (Number.isNaN(time)) throw new UsageError(`--clock takes real, frozen or frozen@TIME (ISO 8601), not '${text}'`)
  return { frozenAt: time }
}

export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d+){3}$/.test(host)
}
