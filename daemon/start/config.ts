// Makes a Config of the flags and the environment. The table of flags is in `local/flags.ts`.

import { homedir } from 'node:os'
import { resolve } from 'node:path'
import { levelForms, readLevel } from '../api/levels/releases.ts'
import { latestTime } from '../domain/values/time.ts'
import { readText, smallFile } from '../local/bounded-file.ts'
import { type DaemonFlagName, daemonFlagList, environmentName } from '../local/flags.ts'
import { defaultDataFolder } from '../local/folders.ts'
import { type ClusterConfig, clusterConfig, refuseAlone } from './cluster-config.ts'
import { type FlagValues, type Given, isOn, parse, readAll, readFlag, UsageError } from './flags.ts'
import { isLoopback } from './listen-address.ts'

export { UsageError } from './flags.ts'

/** The values of all flags, and what follows from several of them. Flags are declared in the table of flags only. */
export interface Config extends Omit<FlagValues, keyof Derived>, Derived {}

/** Values whose type is not that of their flag. */
interface Derived {
  readonly data: string
  /** Files of the certificate and its key; undefined: plain HTTP. */
  readonly tls: { readonly cert: string; readonly key: string } | undefined
  readonly clock: { readonly frozenAt: number | 'now' } | 'real'
  /** The feature level; undefined: that of the seed, or the default. */
  readonly level: number | undefined
  /** Whether outgoing webhooks may go to this machine. */
  readonly webhookLoopback: boolean
  /** N of scrypt. */
  readonly passwordCost: number
  /** A file, or its content. */
  readonly seed: string | object | undefined
  /** undefined: this daemon is alone. */
  readonly cluster: ClusterConfig | undefined
}

export function readConfig(args: readonly string[], env: NodeJS.ProcessEnv): Config {
  const given = parse(args)
  const read = <N extends DaemonFlagName>(name: N) => readFlag(name, given[name], env)
  const [memory, data] = readStore(given, env)
  const host = read('host')
  const url = publicUrl(read('url'))
  const fromFile = (name: 'secret' | 'smtp-url', file: 'secret-file' | 'smtp-url-file') =>
    textFrom(name, read(name), file, read(file))
  const secret = fromFile('secret', 'secret-file')
  // Not by the address alone: behind a proxy, all requests come from this machine.
  const development = isLoopback(host) && url === undefined
  const password = textFrom('cluster-password', undefined, 'cluster-password-file', read('cluster-password-file'))
  const cluster = clusterConfig(read, password)
  if (cluster) refuseAlone(read, memory, secret)
  const control = read('control') || memory
  if (read('strict') && !control)
    throw new UsageError('--strict needs the control plane; give --control or --memory too')
  return {
    ...readAll(read),
    data: resolve(data ?? defaultDataFolder(env, homedir())),
    memory,
    url,
    owner: address(read('owner')),
    tls: tlsFiles(read('tls-cert'), read('tls-key')),
    rateLimit: read('rate-limit') || (!read('no-rate-limit') && !development),
    secret,
    passwordCost: Number(read('password-cost') ?? (memory ? 1024 : 16384)),
    clock: givenClock(read('clock')),
    level: givenLevel(read('level')),
    smtpUrl: smtpUrl(fromFile('smtp-url', 'smtp-url-file')),
    webhookLoopback: read('webhook-private') || development,
    control,
    from: readBase(read('from'), memory, given),
    import: archive(given, read('import')),
    random: read('random') ?? (memory ? secret : undefined),
    cluster,
  }
}

export function wants(args: readonly string[], flag: 'help' | 'version'): boolean {
  return args.includes(`--${flag}`) || (flag === 'help' && args.includes('-h'))
}

export function helpText(): string {
  const lines = daemonFlagList.map(([name, { takes, about, fallback }]) => {
    const usage = `  --${name}${takes ? ` ${takes}` : ''}`
    return `${usage.padEnd(34)}${about}${fallback ? ` (default ${fallback})` : ''}`
  })
  return `Usage: natterd [flags]

Runs the chat daemon in the foreground until it gets SIGTERM or Ctrl-C.
Every flag but --help and --version is also an environment variable: --log-level is NATTER_LOG_LEVEL. The file
~/.config/natter/config.json can set them as well: {"daemon": {"log-level": "info"}}.

${lines.join('\n')}

Examples:
  natterd --data ./store
  natterd --memory --port 0 --ready-file ready.json
`
}

/** With an archive, other flags cannot choose the content of a new organization. */
function archive(given: Given, file: string | undefined): string | undefined {
  if (file === undefined) return undefined
  for (const name of ['seed', 'preset', 'owner', 'org', 'from'] as const)
    if (given[name] !== undefined) throw new UsageError(`--import and --${name} cannot be combined`)
  return resolve(file)
}

/** Whether to keep everything in memory, and the folder if not. A flag wins over the environment's other choice. */
function readStore(given: Given, env: NodeJS.ProcessEnv): [memory: boolean, data: string | undefined] {
  const byFlag = [given.memory === true, given.data as string | undefined] as const
  const byEnv = [isOn(env[environmentName('memory')]), env[environmentName('data')] || undefined] as const
  if (byFlag[0] && byFlag[1] !== undefined)
    throw new UsageError('--memory and --data exclude each other: a daemon in memory has no store')
  if (byFlag[0] || byFlag[1] !== undefined) return [...byFlag]
  if (byEnv[0] && byEnv[1] !== undefined)
    throw new UsageError('NATTER_MEMORY and NATTER_DATA exclude each other: a daemon in memory has no store')
  return [...byEnv]
}

function readBase(from: string | undefined, memory: boolean, given: Given): string | undefined {
  if (from === undefined) return undefined
  if (!memory) throw new UsageError('--from needs --memory: what it names is only read')
  const other = (['seed', 'preset', 'org', 'owner'] as const).find(name => given[name] !== undefined)
  if (other) throw new UsageError(`--from and --${other} exclude each other: the organization already exists`)
  return from
}

/** Secrets are given in files or in the environment, because every user of the machine can read the command line. */
function textFrom(name: string, text: string | undefined, file: string, path: string | undefined): string | undefined {
  if (path === undefined) return text
  if (text !== undefined) throw new UsageError(`--${name} and --${file} exclude each other`)
  try {
    return readText(path, smallFile).trim()
  } catch (error) {
    throw new UsageError(`--${file}: ${(error as Error).message}`)
  }
}

function tlsFiles(cert: string | undefined, key: string | undefined): Config['tls'] {
  if (cert !== undefined && key !== undefined) return { cert, key }
  if (cert ?? key)
    throw new UsageError(`--tls-cert and --tls-key belong together; give --tls-${cert ? 'key' : 'cert'} too`)
  return undefined
}

function publicUrl(text: string | undefined): string | undefined {
  if (text !== undefined && !/^https?:$/.test(URL.canParse(text) ? new URL(text).protocol : ''))
    throw new UsageError(`--url takes a URL such as https://chat.example.com, not '${text}'`)
  return text?.replace(/\/+$/, '')
}

function address(text: string | undefined): string | undefined {
  if (text !== undefined && !/^[^\s@]+@[^\s@]+$/.test(text))
    throw new UsageError(`--owner takes an email address, not '${text}'`)
  return text
}

function smtpUrl(text: string | undefined): string | undefined {
  // Not repeated in the message, because it may hold a password.
  if (text !== undefined && !/^smtps?:\/\/[^\s/]+/.test(text))
    throw new UsageError('--smtp-url takes smtp://… or smtps://…')
  return text
}

function givenLevel(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const level = readLevel(text)
  if (level === undefined) throw new UsageError(`--level takes ${levelForms}, not '${text}'`)
  return level
}

function givenClock(text: string): Config['clock'] {
  const clock = parseClock(text)
  if (!clock) throw new UsageError(`--clock takes ${clockForms}, not '${text}'`)
  return clock
}

/** Milliseconds: 1971. People of presets joined before the time of the start, and no time is before 1970. */
const earliestTime = 31_536_000_000

export const clockForms = 'real, frozen or frozen@TIME (ISO 8601, from 1971 to 9999)'

/** Undefined for a text that has none of the forms. */
export function parseClock(text: string): Config['clock'] | undefined {
  if (text === 'real') return 'real'
  if (text === 'frozen') return { frozenAt: 'now' }
  const time = text.startsWith('frozen@') ? Date.parse(text.slice('frozen@'.length)) : Number.NaN
  return time >= earliestTime && time <= latestTime ? { frozenAt: time } : undefined
}
