// Runs a subcommand of the catalogue: read its params, send or show the request, print the reply.

import { isatty } from 'node:tty'
import { baseOf, type Endpoint } from '../../daemon/api/define.ts'
import { defaultLevel } from '../../daemon/api/levels/releases.ts'
import { addHint, Failure, usage } from '../base/failure.ts'
import { type Globals, keyFlag } from '../base/globals.ts'
import { note } from '../base/note.ts'
import { type Account, accountFor, demandKey } from '../base/profile.ts'
import type { Reply } from '../base/reply.ts'
import type { ReadNow } from '../base/times.ts'
import type { Given, Sources } from '../input/flags.ts'
import { type Kind, namesById } from '../input/names.ts'
import { isPlace, placeIn } from '../input/shorthand.ts'
import { printReply } from '../print/output.ts'
import { type CallOptions, call, checkLimits, type Request, withKey } from '../transport/client.ts'
import { encodeRequest } from './forms.ts'
import { labelParam, readParams, sourcesFor } from './params.ts'
import type { BatchOptions } from './subcommands.ts'

export async function callEndpoint(
  endpoint: Endpoint,
  given: ReadonlyMap<string, Given>,
  globals: Globals,
  batch?: BatchOptions,
): Promise<void> {
  const account = accountFor(globals, process.env)
  const options = callOptions(endpoint, globals)
  const shown = globals.dryRun || globals.curl
  const sources = sourcesFor(account, options, globals, !batch && !isatty(0))
  if (batch) {
    refuseSingleFlags(globals)
    for (const name of ['file', keyFlag])
      if (given.has(`@${name}`)) throw usage(`--${name} and --batch cannot be combined`)
    const { callEach } = await import('./batch.ts')
    if (endpoint.access === 'user') demandKey(account)
    await findQuestion(endpoint, given, globals, 'many')?.()
    return callEach(endpoint, given, batch, { account, sources: { ...sources, plainFiles: true }, globals })
  }
  const range = endpoint.cli.history ? await readRange(given, sources.now) : undefined
  const params = await readParams(endpoint, range?.given ?? given, sources)
  const { path, fields } = encodeRequest(endpoint, params)
  const plain: Request =
    endpoint.access === 'key'
      ? (await import('../transport/posted-request.ts')).postedRequest(`${baseOf(endpoint)}${path}`, fields)
      : { method: endpoint.method, path: `${baseOf(endpoint)}${path}`, fields }
  const request = withKey(plain, given.get(`@${keyFlag}`))
  const caller = endpoint.access === 'user' ? account : withoutKey(account)
  if (shown) {
    if (given.has('@file')) note('the address of each file is a placeholder: it is known when the file is uploaded')
    return (await import('../print/request-text.ts')).printRequest(caller, request, globals)
  }
  if (endpoint.access === 'user') demandKey(account)
  const count = await countFor(endpoint, params, globals, { account, sources, options })
  const ask = findQuestion(endpoint, new Map([...given, ['count', count]]), globals, 'one')
  if (ask) await demandMessage(endpoint, params, account, options)
  await ask?.()
  // Last, so that nothing is uploaded for a message that cannot be sent.
  if (given.has('@file')) {
    await checkLimits(caller, request)
    const { uploadFiles } = await import('./attached-files.ts')
    // A message that is sent again with its key must link to the same files, or it would be another request.
    const { idempotencyKey: key } = request
    await uploadFiles(endpoint, given, fields, sources, (upload, number) =>
      call(account, withKey(upload, key && `${key}-file-${number}`), options),
    )
  }
  const fresh = await listNew(endpoint, params, globals, account, options)
  const calling = range
    ? (await import('./history.ts')).fetchRange(caller, request, range, options)
    : call(caller, request, options)
  const answer = await calling.catch(error => addSuggestion(error, endpoint, given, sources))
  const linked = globals.fields?.includes('link') === true
  const reply = linked ? await addLinks(endpoint, answer, account, options) : answer
  const says = endpoint.cli.says && (await import('../print/sentences.ts')).sentences[endpoint.cli.says]
  const { shows, columns, recipients } = endpoint.cli
  const done = doneText(endpoint, { ...reply, ...params, ...Object.fromEntries(given), count })
  const names = () => namesById('user', account, options)
  const forPeople = async (rows: readonly Reply[]) =>
    (await import('./recipients.ts')).nameRecipients(rows, recipients!, names, account, options)
  const shapes = endpoint.reply
  // A link can only be shown beside the ID if not just the ID is shown.
  const field = linked && shows === 'id' ? undefined : shows
  const self = account.email
  const view = { shows: field, columns, shapes, names, self, ...(recipients && { forPeople }), ...(done && { done }) }
  await printReply(reply, says ? { ...view, says: reply => says(reply, names, fresh) } : view, globals)
  const { skips } = endpoint.cli
  if (skips === undefined) return
  const { demandMessages } = await import('./history.ts')
  await demandMessages(account, params[skips] as number[], reply[skips] as number[], options)
}

/** Adds links to messages, for --fields link. For a message that was just sent, asks the server for its channel and topic. */
async function addLinks(
  { reply: shapes }: Endpoint,
  reply: Reply,
  account: Account,
  options: CallOptions,
): Promise<Reply> {
  const { withLink } = await import('../print/links.ts')
  const { messages, message } = reply
  if (Array.isArray(messages)) return { ...reply, messages: messages.map(one => withLink(one, one, account.site)) }
  if (message) return { ...reply, message: withLink(message, message, account.site) }
  if (shapes.id?.ref !== 'message') return reply
  const path = `/api/v1/messages/${reply.id}?allow_empty_topic_name=true`
  const sent = await call(account, { method: 'GET', path, fields: new Map() }, options)
  return withLink(reply, sent.message as object, account.site)
}

/** The range of messages of --since, --until and --all, and the other flags; undefined if none of them is given. */
async function readRange(given: ReadonlyMap<string, Given>, now: ReadNow) {
  const names = ['@since', '@until', '@all'].filter(name => given.has(name))
  if (names.length === 0) return undefined
  for (const other of ['anchor', 'num_before', 'num_after', 'message_ids'])
    if (given.has(other)) throw usage(`--${names[0]!.slice(1)} cannot be combined with --${other.replace('num_', '')}`)
  const { pastTime } = await import('./history.ts')
  const readTime = (name: string) => {
    const text = given.get(`@${name}`)
    return text === undefined ? undefined : pastTime(name, String(text), now)
  }
  const [since, until] = [await readTime('since'), await readTime('until')]
  const lines = given.get('@lines')
  const rest = new Map([...given].filter(([name]) => !names.includes(name)))
  return { given: rest, since, until, most: lines === undefined ? undefined : Number(lines) }
}

/** The channels that the call will create. Only the sentence needs them. */
async function listNew(
  { cli: { creates } }: Endpoint,
  params: Readonly<Record<string, unknown>>,
  { json, ndjson, fields, jq, quiet }: Globals,
  account: Account,
  options: CallOptions,
): Promise<string[]> {
  if (creates === undefined || json || ndjson || fields || jq || quiet) return []
  const known = await namesById('channel', account, options).catch(() => undefined)
  if (!known) return []
  const names = new Set([...known.values()].map(name => name.toLowerCase()))
  const wanted = (params[creates] as (string | { name: string })[]).map(one =>
    typeof one === 'string' ? one : one.name,
  )
  return wanted.map(name => name.trim()).filter(name => !names.has(name.toLowerCase()))
}

/** The text for `{count}` in sentences about the call. */
async function countFor(
  { cli: { counts } }: Endpoint,
  params: Readonly<Record<string, unknown>>,
  { json, ndjson, quiet }: Globals,
  server: { readonly account: Account; readonly sources: Sources; readonly options: CallOptions },
): Promise<string> {
  if (counts === undefined) return ''
  const { countMoved, demandTopic } = await import('./topic-messages.ts')
  if (counts === 'topic')
    return (await demandTopic({ channel: `id:${params.stream_id}`, topic: String(params.topic_name) }, server)).count
  // Only the sentence needs it.
  return json || ndjson || quiet ? '' : countMoved(Number(params.message_id), params.propagate_mode, server)
}

/** Asks before an endpoint destroys something; undefined if it does not ask. For a batch, it asks once. */
function findQuestion(
  { cli: { name, destroys } }: Endpoint,
  given: ReadonlyMap<string, Given>,
  globals: Globals,
  count: 'one' | 'many',
): (() => Promise<void>) | undefined {
  if (!destroys || globals.yes) return undefined
  const typed = process.stdin.isTTY && process.stderr.isTTY
  if (destroys.when === 'typed' && count === 'one' && !typed) return undefined
  const question = destroys.question.replace(/\{(\w+)\}/g, (_match, name) => String(given.get(name)))
  const asked = count === 'many' ? `Run ${name} for every line of this batch?` : question
  return async () => (await import('../input/confirm.ts')).confirm(asked, globals)
}

/** Fails if the endpoint is about a message that does not exist, before a question about it. */
async function demandMessage(
  { params: shapes }: Endpoint,
  params: Readonly<Record<string, unknown>>,
  account: Account,
  options: CallOptions,
): Promise<void> {
  const name = Object.keys(shapes).find(name => shapes[name]!.shape.ref === 'message')
  if (name !== undefined)
    await (await import('./history.ts')).demandMessages(account, [params[name] as number], [], options)
}

/** What to report on success, with the params as they were given and the fields of the reply. */
export function doneText({ cli: { done } }: Endpoint, values: Readonly<Record<string, unknown>>): string | undefined {
  return done?.replace(/\{(\w+)\}/g, (_match, name) => String(values[name]))
}

/** Adds a suggestion to the error if the server did not find a name. */
export async function addSuggestion(
  error: unknown,
  endpoint: Endpoint,
  given: ReadonlyMap<string, Given>,
  sources: Sources,
): Promise<never> {
  if (!(error instanceof Failure)) throw error
  const place = placeIn(String(given.get('@place') ?? ''))
  const channel = given.get('@channel') ?? place?.channel
  if (mayBeMisspelt(error)) {
    const named = endpoint.cli.channels
    const channels = [channel ?? [], (named && given.get(named)) ?? []].flat()
    const people = [given.get('@sender') ?? [], given.get('principals') ?? [], recipientsIn(given)].flat()
    for (const name of channels) await demandName('channel', String(name), sources)
    for (const name of people) await demandName('user', String(name), sources)
  }
  const lacksTopic = error.parameter === 'topic' && !place?.topic && !given.has('topic')
  if (given.has('@lines') && (error.parameter === 'num_before' || error.parameter === 'num_after'))
    throw addHint(error, 'Add --all to fetch as many as -n says in several calls.')
  const { since = 0 } = endpoint
  if (since > defaultLevel && error.http === 404 && error.parameter === undefined)
    throw addHint(
      error,
      `Servers have this since feature level ${since}; \`natterd --level ${since}\` is such a server.`,
    )
  if (typeof channel === 'string' && lacksTopic)
    throw addHint(error, `Give '#${channel.replace(/^#/, '')}>topic', or --topic.`)
  throw error.hint === undefined ? nameFlag(error, endpoint) : error
}

/** The users that a message was to be sent to, as they were given. */
function recipientsIn(given: ReadonlyMap<string, Given>): string[] {
  const to = given.get('to') ?? given.get('@place')
  return [to ?? []]
    .flat()
    .filter(names => typeof names === 'string' && names.includes('@') && isPlace(names)) as string[]
}

/** Names the flag, if the server names a parameter whose flag has another name. */
function nameFlag(error: Failure, endpoint: Endpoint): Failure {
  const name = error.parameter
  if (name === undefined || !Object.hasOwn(endpoint.params, name)) return error
  const label = labelParam(endpoint, name)
  // Positional arguments have no flag name.
  if (!label.startsWith('--') || label.includes(name.replaceAll('_', '-'))) return error
  return addHint(error, `The flag for ${name} is ${label}.`)
}

function mayBeMisspelt({ code, kind }: Failure): boolean {
  return kind === 'not-found' || code === 'BAD_NARROW'
}

/** Throws, with suggestions, if nothing has this name. */
async function demandName(kind: Kind, given: string, sources: Sources): Promise<void> {
  for (const name of given.split(','))
    if (name.trim() !== '' && !/^(id:)?\d+$/.test(name)) await sources.names.find(kind, name.trim())
}

/** Refuses flags that are for a single request. A dry run of a batch would send its requests. */
export function refuseSingleFlags({ dryRun, curl, jq, fields }: Globals): void {
  for (const [flag, given] of Object.entries({ 'dry-run': dryRun, curl, jq, fields }))
    if (given !== undefined && given !== false)
      throw usage(
        `--${flag} and --batch cannot be combined`,
        'Try one line without --batch first; the results of a batch are NDJSON.',
      )
}

export function callOptions({ cli }: Endpoint, globals: Globals): CallOptions {
  return { timeout: globals.timeout ?? cli.timeout, retry: globals.retry }
}

function withoutKey({ email: _email, apiKey: _apiKey, ...others }: Account): Account {
  return others
}
