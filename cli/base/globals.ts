// The flags that every subcommand understands. Plain data, so that the program's help needs no parser.

import { usage } from './failure.ts'
import { parseDuration } from './times.ts'

export interface GlobalFlag {
  readonly name: string
  /** What its value is called; absent for a switch. */
  readonly value?: string
  readonly about: string
}

export const globalFlags: readonly GlobalFlag[] = [
  { name: 'json', about: 'print the whole reply as JSON; errors too, on stderr' },
  { name: 'ndjson', about: 'print each item of a list as one line of JSON' },
  { name: 'fields', value: 'A,B', about: 'only these fields, in this order' },
  { name: 'jq', value: 'EXPR', about: 'print what this jq expression makes of the reply; of each event in a stream' },
  { name: 'quiet', about: 'nothing on stderr but errors' },
  { name: 'site', value: 'URL', about: 'the server to talk to' },
  { name: 'user', value: 'EMAIL', about: 'the account to use' },
  { name: 'api-key', value: 'KEY', about: "the account's API key" },
  { name: 'profile', value: 'NAME', about: 'a saved site, account and key' },
  { name: 'timeout', value: 'TIME', about: 'how long to wait for an answer (default 15s)' },
  { name: 'retry', value: 'N', about: 'when rate limited, wait as told and try again up to N times (default 0)' },
  { name: 'color', value: 'WHEN', about: 'always, never or auto (default auto)' },
  { name: 'dry-run', about: 'print the request instead of sending it' },
  { name: 'curl', about: 'print the request as a curl command instead of sending it' },
  { name: 'show-key', about: 'do not hide the API key in --dry-run and --curl' },
]

/** Flags of every subcommand of the API, and of `natter api`. */
export const batchFlags: readonly GlobalFlag[] = [
  { name: 'batch', value: 'FILE', about: 'one call per line of this file, each line a JSON object; `-` reads stdin' },
  { name: 'parallel', value: 'N', about: 'with --batch: so many calls at a time (default 1)' },
  { name: 'keep-going', about: 'with --batch: go on after a call that failed' },
]

export interface Globals {
  readonly json: boolean
  readonly ndjson: boolean
  readonly fields?: readonly string[]
  readonly jq?: string
  readonly quiet: boolean
  readonly site?: string
  readonly user?: string
  readonly apiKey?: string
  readonly profile?: string
  /** Milliseconds. */
  readonly timeout?: number
  readonly retry: number
  readonly color: 'always' | 'never' | 'auto'
  readonly dryRun: boolean
  readonly curl: boolean
  readonly showKey: boolean
}

/** Milliseconds. A timer for longer would be over at once. */
export const longestTimeout = 2 ** 31 - 1

/** From flag names to what they say; the raw values as the parser found them. */
export function readGlobals(given: ReadonlyMap<string, unknown>): Globals {
  const word = (name: string) => {
    const value = given.get(name)
    return typeof value === 'string' ? value : undefined
  }
  const fields = word('fields')
  if (fields !== undefined && !/^[\w.]+( *, *[\w.]+)*$/.test(fields))
    throw usage(`--fields: "${fields}" is not a list of names such as id,title`)
  const color = word('color') ?? 'auto'
  if (color !== 'always' && color !== 'never' && color !== 'auto')
    throw usage(`--color: "${color}" is not always, never or auto`)
  const retry = word('retry') ?? '0'
  if (!/^\d{1,6}$/.test(retry)) throw usage(`--retry: "${retry}" is not a number of tries`)
  const timeout = word('timeout')
  const milliseconds = timeout === undefined ? undefined : parseDuration(timeout)
  if (milliseconds !== undefined && milliseconds > longestTimeout)
    throw usage(`--timeout: ${timeout} is longer than a timer can wait`, 'The most is 24d.')
  if (timeout !== undefined && !milliseconds) throw usage(`--timeout: "${timeout}" is not a time such as 15s or 2m`)
  return {
    json: given.get('json') === true,
    ndjson: given.get('ndjson') === true,
    quiet: given.get('quiet') === true,
    ...present({ fields: fields?.split(',').map(name => name.trim()), jq: word('jq') }),
    ...present({ site: word('site'), user: word('user'), apiKey: word('api-key'), profile: word('profile') }),
    ...present({ timeout: milliseconds }),
    retry: Number(retry),
    color,
    dryRun: given.get('dry-run') === true,
    curl: given.get('curl') === true,
    showKey: given.get('show-key') === true,
  }
}

/** Where the first word stands that is neither a global flag nor the value of one; -1 if nowhere. */
export function firstWord(argv: readonly string[]): number {
  for (let i = 0; i < argv.length; i++) {
    const item = argv[i]!
    if (!item.startsWith('-') || item === '-') return i
    if (globalFlags.some(flag => flag.value !== undefined && item === `--${flag.name}`)) i++
  }
  return -1
}

type Present<T> = { [K in keyof T]?: Exclude<T[K], undefined> }

function present<T extends object>(values: T): Present<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Present<T>
}
