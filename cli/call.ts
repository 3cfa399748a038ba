// What a subcommand of the catalogue does: read its params, send or show the request, print the reply.

import type { Endpoint } from '../daemon/api/define.ts'
import { call, type Patience, type Request } from './client.ts'
import { fillIn } from './everyday.ts'
import { exitCodes, Failure, hinted, usage } from './failure.ts'
import { flagName, type Given, isChoice, readParam, type Sources, wordName } from './flags.ts'
import { requestOf } from './forms.ts'
import type { Globals } from './globals.ts'
import type { Names } from './names.ts'
import { printReply } from './output.ts'
import { placeIn } from './place.ts'
import { type Account, accountFor } from './profile.ts'
import type { BatchOptions } from './subcommands.ts'

/** A blocking poll is answered by a heartbeat at the latest, within about a minute. */
const pollTimeout = 120_000

export async function callEndpoint(
  endpoint: Endpoint,
  given: ReadonlyMap<string, Given>,
  globals: Globals,
  batch?: BatchOptions,
): Promise<void> {
  const account = accountFor(globals, process.env)
  const patience = patienceFor(endpoint, globals)
  const sources: Sources = {
    names: lazyNames(account, patience),
    now: new Date(),
    stdin: stdinOnce(),
    piped: !batch && !process.stdin.isTTY,
    // A request that is only shown needs no secret.
    secret: async label =>
      globals.dryRun || globals.curl ? '********' : (await import('./prompt.ts')).askSecret(`${label}: `),
  }
  if (batch) {
    const { callEach } = await import('./extra/batch.ts')
    if (endpoint.access === 'user') demandKey(account)
    return callEach(endpoint, given, batch, { account, sources, globals })
  }
  const { path, fields } = requestOf(endpoint, await readParams(endpoint, given, sources))
  const request: Request = { method: endpoint.method, path: `/api/v1${path}`, fields }
  const caller = endpoint.access === 'anyone' ? withoutKey(account) : account
  if (globals.dryRun || globals.curl) return (await import('./request-text.ts')).printRequest(caller, request, globals)
  if (endpoint.access === 'user') demandKey(account)
  const reply = await call(caller, request, patience).catch(error => nearby(error, given, sources))
  await printReply(reply, { ...endpoint.cli, shapes: endpoint.reply }, globals)
}

/** A channel that the server looked for by its name: ours may have a suggestion. */
async function nearby(error: unknown, given: ReadonlyMap<string, Given>, sources: Sources): Promise<never> {
  const place = placeIn(String(given.get('@place') ?? ''))
  const channel = given.get('@channel') ?? place?.channel
  if (!(error instanceof Failure) || typeof channel !== 'string') throw error
  if (error.code === 'STREAM_DOES_NOT_EXIST' && !/^(id:)?\d+$/.test(channel))
    await sources.names.find('channel', channel)
  const lacksTopic = error.code === 'BAD_REQUEST' && error.message.startsWith('topic: ') && !place?.topic
  if (lacksTopic && !given.has('topic'))
    throw hinted(error, `Say '#${channel.replace(/^#/, '')}>topic', or give --topic.`)
  throw error
}

/** What was given, as the values that travel. */
export async function readParams(
  endpoint: Endpoint,
  given: ReadonlyMap<string, Given>,
  sources: Sources,
): Promise<Record<string, unknown>> {
  const filled = await fillIn(endpoint, given, sources)
  const params: Record<string, unknown> = { ...filled.values }
  for (const [name, param] of Object.entries(endpoint.params)) {
    if (Object.hasOwn(params, name)) continue
    const value = filled.given.get(name)
    const label = labelOf(endpoint, name)
    const needed = param.presence === 'required' || param.presence === 'path'
    if (param.shape.ref === 'secret' && (value === '-' || (value === undefined && needed)))
      params[name] = await sources.secret(label)
    else if (value !== undefined) params[name] = await readParam(param, value, label, sources)
    else if (needed) throw usage(`${label} is missing`, param.about)
  }
  if (changesNothing(endpoint, params))
    throw usage('it is not said what to change', `See natter ${endpoint.cli.name} --help`)
  return params
}

/** Only which thing, of an endpoint whose every change can be left out. */
function changesNothing({ method, params }: Endpoint, given: Readonly<Record<string, unknown>>): boolean {
  const changes = Object.entries(params).filter(([, { presence }]) => presence !== 'path')
  return (
    method === 'PATCH' &&
    changes.length > 0 &&
    changes.every(([name, { presence }]) => presence !== 'required' && !Object.hasOwn(given, name))
  )
}

export function demandKey(account: Account): void {
  if (!account.site || (account.email && account.apiKey)) return
  const lacking = account.email ? `the API key of ${account.email}` : 'an account'
  throw new Failure(exitCodes.denied, `${lacking} for ${account.site} is not known`, {
    hint: `Log in with \`natter login ${account.site} EMAIL\`, or give --user and --api-key, or set NATTER_EMAIL and NATTER_API_KEY.`,
  })
}

export async function readStdin(): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of process.stdin) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}

function labelOf(endpoint: Endpoint, param: string): string {
  if (!endpoint.cli.args?.includes(param)) return `--${flagName(endpoint, param)}`
  const { shape } = endpoint.params[param]!
  return `<${isChoice(shape) ? param.replaceAll('_', '-') : wordName(param, shape)}>`
}

function patienceFor(endpoint: Endpoint, globals: Globals): Patience {
  const timeout = globals.timeout ?? (endpoint.id === 'get-events' ? pollTimeout : undefined)
  return { timeout, retry: globals.retry }
}

function withoutKey({ site, from }: Account): Account {
  return site === undefined ? { from } : { site, from }
}

/** Looking up is the exception, so its code is loaded when the first name needs it. */
function lazyNames(account: Account, patience: Patience): Names {
  let names: Promise<Names> | undefined
  return {
    async find(kind, name) {
      names ??= import('./names.ts').then(module => module.namesOf(account, patience))
      return (await names).find(kind, name)
    },
  }
}

/** The line break that `echo` and editors add is not part of the text. */
function stdinOnce(): () => Promise<string> {
  let used = false
  return async () => {
    if (used) throw usage('only one value can be read from stdin')
    used = true
    return (await readStdin()).replace(/\r?\n$/, '')
  }
}
