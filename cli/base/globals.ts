// The flags that every subcommand accepts. Plain data, so that the program's help needs no parser.

import { usage } from './failure.ts'
import { readDuration } from './flag-values.ts'

export interface GlobalFlag {
  readonly name: string
  /** One letter. */
  readonly short?: string
  /** What its value is called; absent for a switch. */
  readonly value?: string
  readonly about: string
}

export const globalFlags: readonly GlobalFlag[] = [
  { name: 'json', about: 'print the whole reply as JSON; errors too, on stderr' },
  { name: 'ndjson', about: 'print each item of a list as one line of JSON' },
  { name: 'fields', value: 'A,B', about: 'print only these fields, in this order' },
  {
    name: 'jq',
    value: 'EXPR',
    about: 'apply this jq expression, without `$ENV`, to the reply, or to each event of a stream',
  },
  {
    name: 'quiet',
    about: 'leave out notes and progress on stderr; results, errors and the cut of a text are still reported',
  },
  { name: 'site', value: 'URL', about: 'the server to talk to' },
  { name: 'user', value: 'EMAIL', about: 'the account to use' },
  { name: 'api-key', value: 'KEY', about: "the account's API key" },
  { name: 'profile', value: 'NAME', about: 'a saved profile: site, account and key' },
  { name: 'ready-file', value: 'FILE', about: 'take the site, the owner and the control token from this ready file' },
  { name: 'as', value: 'ACCOUNT', about: 'act as this account, by name, email or ID; needs the control token' },
  { name: 'control-token', value: 'TOKEN', about: 'the token of the control plane' },
  { name: 'timeout', value: 'TIME', about: 'how long to wait for a response (default 15s)' },
  { name: 'retry', value: 'N', about: 'when rate limited, wait and retry up to N times (default 0)' },
  { name: 'color', value: 'WHEN', about: 'always, never or auto (default auto)' },
  { name: 'yes', about: 'do it without asking; natter help scripts says what asks' },
  { name: 'dry-run', about: 'print the request instead of sending it' },
  { name: 'curl', about: 'print the request as a curl command instead of sending it' },
  { name: 'show-key', about: 'do not hide the API key in --dry-run and --curl' },
]

/** The flags that choose how output is printed for programs. */
export const formatFlags = ['json', 'ndjson', 'fields', 'jq'] as const

/** The flags that choose the server and the account, and what it takes to act as another one. */
export const accountFlags = ['site', 'user', 'api-key', 'profile', 'ready-file', 'as', 'control-token'] as const

/** Names a change, so that sending it again does not make it twice. */
export const keyFlag = 'idempotency-key'

/** Flags of every subcommand of the API, and of `natter api`. */
export const batchFlags: readonly GlobalFlag[] = [
  {
    name: 'batch',
    value: 'FILE',
    about:
      'make one call per line of this file, each line a JSON object; `-` reads stdin. Of a .csv file, the first row names the keys',
  },
  {
    name: 'parallel',
    value: 'N',
    about: 'with --batch: number of calls in parallel (default 1; with --resume at most 200)',
  },
  { name: 'keep-going', about: 'with --batch: continue after a failed call' },
  {
    name: 'resume',
    value: 'FILE',
    about: 'with --batch: save the progress in this file, and continue there next time without repeating a line',
  },
  { name: 'null', short: '0', about: 'with --batch: lines end with a NUL byte, so that JSON can span lines' },
  {
    name: keyFlag,
    value: 'KEY',
    about:
      'make this change once, however often you send it with this key; natterd keeps the last 1,000 answers of an account, at most 1 MiB; --resume gives each line of a batch its own key',
  },
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
  readonly readyFile?: string
  /** The account to act as; `actAs` has replaced it by that account's address and key. */
  readonly as?: string
  readonly controlToken?: string
  /** Milliseconds. */
  readonly timeout?: number
  readonly retry: number
  readonly color: 'always' | 'never' | 'auto'
  readonly yes: boolean
  readonly dryRun: boolean
  readonly curl: boolean
  readonly showKey: boolean
}

/** Raw values by flag name, as the parser found them. */
export function readGlobals(given: ReadonlyMap<string, unknown>): Globals {
  const word = (name: string) => {
    const value = given.get(name)
    return typeof value === 'string' ? value : undefined
  }
  const fields = word('fields')
  if (fields !== undefined && !/^[\w.]+( *, *[\w.]+)*$/.test(fields))
    throw usage(`--fields: "${fields}" is not a list of field names such as id,title`)
  if (fields !== undefined && given.has('jq'))
    throw usage('--fields and --jq cannot be combined', "Choose the fields in jq: --jq '.messages[] | {id, content}'")
  const color = word('color') ?? 'auto'
  if (color !== 'always' && color !== 'never' && color !== 'auto')
    throw usage(`--color: "${color}" is not always, never or auto`)
  const retry = word('retry') ?? '0'
  if (!/^\d{1,6}$/.test(retry)) throw usage(`--retry: "${retry}" is not a number of retries`)
  const timeout = word('timeout')
  const read = {
    fields: fields?.split(',').map(name => name.trim()),
    timeout: timeout === undefined ? undefined : readDuration('timeout', timeout),
    retry: Number(retry),
    color,
  }
  const plain = globalFlags.map(({ name, value }) => [keyFor(name), value ? word(name) : given.get(name) === true])
  const all = Object.entries({ ...Object.fromEntries(plain), ...read })
  return Object.fromEntries(all.filter(([, value]) => value !== undefined)) as unknown as Globals
}

/** `apiKey` for `api-key`. */
function keyFor(flag: string): string {
  return flag.replace(/-(\w)/g, (_match, letter: string) => letter.toUpperCase())
}
