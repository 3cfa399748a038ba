// Many calls over a few connections: NDJSON or CSV in, one result per line out, in the order of the input.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Endpoint } from '../../daemon/api/define.ts'
import { didYouMean } from '../../daemon/local/did-you-mean.ts'
import { pauseFor } from '../../daemon/local/durations.ts'
import { harmlessJson } from '../../daemon/local/harmless.ts'
import { isRecord, jsonOr } from '../../daemon/local/json.ts'
import { parseJson } from '../../daemon/local/nesting.ts'
import { Ending, type ExitCode, exitCodes, Failure, usage } from '../base/failure.ts'
import type { Globals } from '../base/globals.ts'
import { note } from '../base/note.ts'
import { type Account, accountFor } from '../base/profile.ts'
import type { Reply } from '../base/reply.ts'
import { onSignals } from '../base/signals.ts'
import { countText } from '../base/text-layout.ts'
import { onOutputError, print, waitForDrain } from '../base/writer.ts'
import { flagName, type Given, isList, isMarkdown, type Sources, wordName } from '../input/flags.ts'
import { Progress } from '../terminal/progress.ts'
import { checkLimits, type Request, readReply } from '../transport/client.ts'
import { Pool, type PoolCall, type RawReply } from '../transport/pool.ts'
import { fullPath, methods } from '../transport/routes.ts'
import { countLines, isCsv, openInput, readLines } from './batch-lines.ts'
import { everydayFlags, paramFor, wordsFor } from './everyday.ts'
import { encodeRequest } from './forms.ts'
import { readParams } from './params.ts'
import { mostRepeated, Resume } from './resume.ts'
import type { BatchOptions } from './subcommands.ts'

type Line = Readonly<Record<string, unknown>>

/** The call of a line. A promise only if something has to be looked up: there can be very many lines. */
type Read = (line: Line, upload: UploadFile) => PoolCall | Promise<PoolCall>

/** Uploads a file that belongs to a line; `number`: which of its files. */
type UploadFile = (request: Request, number: number) => Promise<Reply>

interface Result {
  readonly line: number
  readonly text: string
  readonly failed: boolean
}

/** Lines are objects of params, by the names in the help or in the API; flags given on the command line apply to every line. */
export function callEach(
  endpoint: Endpoint,
  given: ReadonlyMap<string, Given>,
  batch: BatchOptions,
  { account, sources, globals }: { account: Account; sources: Sources; globals: Globals },
): Promise<void> {
  const reader = new ParamReader(endpoint, given, account, sources)
  const about = [endpoint.method, endpoint.path, [...given].sort()]
  return runAll(batch, about, account, globals, (line, upload) => reader.read(line, upload))
}

/** Lines are `{"method":"POST","path":"/typing","params":{…}}`. */
export function callLines(batch: BatchOptions, globals: Globals): Promise<void> {
  return runAll(batch, [], accountFor(globals, process.env), globals, line => {
    const { method = 'GET', path, params = {} } = line
    if (typeof method !== 'string' || !methods.includes(method.toUpperCase()))
      throw usage(`"method" is not one of ${methods.join(', ')}`)
    if (typeof path !== 'string') throw usage('"path" is missing')
    if (typeof params !== 'object' || params === null) throw usage('"params" is not an object')
    return { method: method.toUpperCase(), path: fullPath(path), form: encodeForm(Object.entries(params)) }
  })
}

/** Reads lines of params the way the command line is read. */
class ParamReader {
  readonly #endpoint: Endpoint
  readonly #given: ReadonlyMap<string, Given>
  readonly #account: Account
  readonly #sources: Sources
  /** Params by the names that lines can use. */
  readonly #names = new Map<string, string>()
  /** Those of the help. */
  readonly #shown: readonly string[]
  /** The param that holds the text of a message, if there is one. */
  readonly #text: string | undefined
  /** Most lines differ only in their text: the last line's call without its text, to reuse. */
  #last: { readonly others: string; readonly call: PoolCall } | undefined

  constructor(endpoint: Endpoint, given: ReadonlyMap<string, Given>, account: Account, sources: Sources) {
    this.#endpoint = endpoint
    this.#given = given
    this.#account = account
    this.#sources = sources
    const words = wordsFor(endpoint)
    for (const name of words) this.#names.set(wordName(name, paramFor(endpoint, name).shape), name)
    const params = Object.keys(endpoint.params)
    for (const name of params) if (!words.includes(name)) this.#names.set(flagName(endpoint, name), name)
    for (const { name } of everydayFlags(endpoint)) this.#names.set(name, `@${name}`)
    this.#shown = [...this.#names.keys()]
    for (const name of params) this.#names.set(name, name)
    this.#text = Object.entries(endpoint.params).find(([, { shape }]) => isMarkdown(shape))?.[0]
  }

  read(line: Line, upload: UploadFile): PoolCall | Promise<PoolCall> {
    const name = this.#text
    const text = name === undefined ? undefined : line[name]
    // A dash means stdin.
    if (name === undefined || typeof text !== 'string' || text === '-')
      return this.#readAll(line, upload).then(buildCall)
    const others = JSON.stringify({ ...line, [name]: '' })
    const last = this.#last
    const short = text.length <= (this.#endpoint.params[name]!.cut ?? Number.POSITIVE_INFINITY)
    if (last?.others === others && short) return { ...last.call, form: last.call.form + encodeText(text) }
    return this.#readAll(line, upload).then(async request => {
      // It may be read as something other than text, and files add links to it.
      if (request.fields.get(name) !== text) return buildCall(request)
      const fields = new Map(request.fields)
      fields.delete(name)
      const call = await buildCall({ ...request, fields: fields.set(name, '') })
      this.#last = { others, call }
      return { ...call, form: call.form + encodeText(text) }
    })
  }

  async #readAll(line: Line, upload: UploadFile): Promise<Encoded> {
    const endpoint = this.#endpoint
    const plain: Record<string, unknown> = {}
    const texts = new Map(this.#given)
    for (const [key, value] of Object.entries(line)) {
      const name = this.#names.get(key)
      if (name === undefined) {
        const near = didYouMean(key, this.#shown)
        const known = `${near ? `${near} ` : ''}You can give: ${this.#shown.join(', ')}`
        throw usage(`"${key}" is not a key of ${endpoint.cli.name}. ${known}`)
      }
      texts.delete(name)
      // Strings are read as on the command line, so names work in place of IDs; other values are used as they are.
      if (typeof value === 'string') texts.set(name, isListParam(endpoint, name) ? [value] : value)
      else if (isTexts(value) && (isListParam(endpoint, name) || name === '@file')) texts.set(name, value)
      else if (name === '@file') throw usage('"file" must be the name of a file, or a list of names')
      else plain[name] = value
    }
    const stated: ReadonlyMap<string, Given> = new Map([
      ...texts,
      ...Object.keys(plain).map(name => [name, true] as const),
    ])
    const params = await readParams(endpoint, stated, this.#sources)
    const { path, fields } = encodeRequest(endpoint, { ...params, ...plain })
    const request = { method: endpoint.method, path: `/api/v1${path}`, fields }
    if (stated.has('@file')) {
      // Nothing is uploaded for a line that is refused.
      await checkLimits(this.#account, request)
      const { uploadFiles } = await import('./attached-files.ts')
      await uploadFiles(endpoint, stated, fields, this.#sources, upload)
    }
    return request
  }
}

type Encoded = Pick<Request, 'method' | 'path' | 'fields'>

async function buildCall({ method, path, fields }: Encoded): Promise<PoolCall> {
  const texts = [...fields].filter((field): field is [string, string] => typeof field[1] === 'string')
  const call = { method, path, form: encodeForm(texts) }
  if (texts.length === fields.size) return call
  return { ...call, parts: await (await import('../transport/multipart.ts')).multipart(fields) }
}

function encodeForm(fields: Iterable<readonly [string, unknown]>): string {
  return Array.from(fields, ([name, value]) => {
    return `${encodeText(name)}=${encodeText(typeof value === 'string' ? value : JSON.stringify(value))}`
  }).join('&')
}

/** Like URLSearchParams except for spaces, and without building a list first. */
function encodeText(text: string): string {
  return encodeURIComponent(text.toWellFormed())
}

/** `about`: what is the same for every line. */
async function runAll(
  batch: BatchOptions,
  about: readonly unknown[],
  account: Account,
  globals: Globals,
  read: Read,
): Promise<void> {
  const { file, parallel, keepGoing, ending } = batch
  const input = openInput(file)
  const { site, email } = account
  const resume = batch.resume === undefined ? undefined : new Resume(batch.resume, [site, email, ...about])
  const pool = await Pool.open(account, parallel)
  const caller = createCaller(pool, globals)
  const progress = new Progress(countLines(file, ending), globals)
  const results = new Results(progress)
  const waiting: Promise<Result>[] = []
  let interrupted: ExitCode | undefined
  const ignoreSignals = onSignals(code => {
    interrupted = code
    if (waiting.length > 0) note(`waiting for calls under way: ${waiting.length}; press Ctrl-C again to stop at once`)
    // Ends the reading, so that calls under way can be reported.
    input.destroy()
  })
  // Without its result, it would not be known whether a call was made: no more calls are made, and this is no success.
  let unprinted: Error | undefined
  const ignoreOutput = onOutputError(error => {
    unprinted ??= error
    input.destroy()
  })
  // Twice as many as run at once, so that one slow call does not leave the others idle.
  const most = parallel === 1 ? 1 : Math.min(parallel * 2, resume ? mostRepeated : Infinity)
  let done = 0
  let failed = 0
  let first: Result | undefined
  let problem: unknown
  const report = (result: Result): Promise<void> | undefined => {
    done++
    if (result.failed) failed++
    if (result.failed) first ??= result
    progress.step(result.failed)
    // The next run tries a failed line again, unless this one went on after it.
    if (keepGoing || failed === 0) resume?.finish(result.line)
    return results.add(`${result.text}\n`)
  }
  try {
    // Of a CSV file, the first row names the keys.
    let number = isCsv(file) ? 1 : 0
    reading: for await (const lines of readLines(input, file, ending))
      for (const text of lines) {
        number++
        if (text.trim() === '' || resume?.read(number, text) === false) continue
        if (interrupted !== undefined || unprinted) break reading
        waiting.push(attempt(number, text, read, caller, resume?.keyOf(number)))
        if (waiting.length < most) continue
        await report(await waiting.shift()!)
        if ((failed > 0 && !keepGoing) || resume?.failure) break reading
      }
    if (interrupted === undefined && !unprinted) resume?.check()
  } catch (error) {
    // An interrupt closes the input, which is not an error.
    if (interrupted === undefined && !unprinted) problem = error
  }
  try {
    // Whatever ended the reading, wait for the calls in progress and report them: they may have taken effect.
    while (waiting.length > 0) await report(await waiting.shift()!)
  } finally {
    input.destroy()
    results.flush()
    resume?.write()
    progress.end()
    pool.close()
    ignoreSignals()
    ignoreOutput()
  }
  problem ??= unprinted ?? resume?.failure
  if (problem !== undefined) throw problem
  if (resume && resume.done > 0) note(`continued after line ${resume.done}, where an earlier run ended`)
  if (interrupted !== undefined) {
    note(`interrupted; calls made and reported: ${done}, of these failed: ${failed}`)
    throw new Ending(interrupted)
  }
  if (first) throw summarizeFailures(first, failed - 1)
}

/** Says on stderr what went wrong: the results may go to a file, or be discarded. */
function summarizeFailures({ line, text }: Result, others: number): Failure {
  const { http, code, msg, hint } = looseObject(text) as Readonly<Record<string, unknown>>
  const isPage = Number(http) < 400
  const status = `the server answered with status ${http}${isPage ? ', but not as a chat server does' : ''}`
  const reason = typeof msg === 'string' ? msg : status
  return new Failure(exitCodes.refused, `line ${line}: ${reason}`, {
    ...(typeof http === 'number' && { http }),
    ...(typeof code === 'string' && { code }),
    hint:
      [
        ...(typeof hint === 'string' ? [hint] : []),
        ...(others === 0 ? [] : [`${countText(others, 'more call')} failed; the lines on stdout say why.`]),
      ].join('\n  ') || undefined,
  })
}

/** Results that arrive in the same turn are written together. */
class Results {
  readonly #progress: Progress
  #waiting = ''

  constructor(progress: Progress) {
    this.#progress = progress
  }

  /** A promise if the reader of stdout is slow. */
  add(text: string): Promise<void> | undefined {
    if (this.#waiting === '') setImmediate(() => this.flush())
    this.#waiting += text
    return waitForDrain()
  }

  flush(): void {
    if (this.#waiting === '') return
    if (process.stdout.isTTY) this.#progress.erase()
    print(this.#waiting)
    this.#waiting = ''
  }
}

async function attempt(line: number, text: string, read: Read, caller: Caller, key?: string): Promise<Result> {
  try {
    const upload = async (request: Request, number: number): Promise<Reply> => {
      const { status, text } = await caller(await buildCall(request), key && `${key}-file-${number}`)
      return readReply({ status, text, reason: '', headers: [] }, undefined, request)
    }
    const found = read(objectFrom(text), upload)
    const call = found instanceof Promise ? await found : found
    const { status, text: body } = await caller(call, key)
    const failed = !isDone(call.method, status, body)
    // The reply is passed on unchanged, with two fields before it.
    if (body.startsWith('{"') && !body.includes('\n'))
      return { line, failed, text: harmlessJson(`{"line":${line},"http":${status},${body.slice(1)}`) }
    return { line, failed, text: harmlessJson(JSON.stringify({ line, http: status, ...looseObject(body) })) }
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    const { code, message: msg, http, hint } = error
    return { line, failed: true, text: harmlessJson(JSON.stringify({ line, http, result: 'error', code, msg, hint })) }
  }
}

/** A redirect or a page, of JSON too, is the answer of a proxy before the server: the call was not made. */
function isDone(method: string, status: number, body: string): boolean {
  if (status >= 300) return false
  if (body.startsWith('{"result":"success"')) return true
  const reply = jsonOr(body)
  return isRecord(reply) && reply.result !== 'error' && (method === 'GET' || typeof reply.result === 'string')
}

type Caller = (call: PoolCall, key: string | undefined) => Promise<RawReply>

/** Makes a call; when rate limited, holds back all other calls too. */
function createCaller(pool: Pool, { timeout }: Globals): Caller {
  let gate: Promise<unknown> | undefined
  return async (call, key) => {
    for (;;) {
      if (gate) await gate
      const reply = await pool.send(call, timeout, key)
      if (reply.status !== 429) return reply
      gate = Promise.all([gate, sleep(pauseFor(reply.retryAfter))])
    }
  }
}

function objectFrom(text: string): Readonly<Record<string, unknown>> {
  let value: unknown
  try {
    value = parseJson(text)
  } catch (error) {
    if (/^\ufeff?\w[\w-]*([,;][\w-]+)+\s*$/.test(text))
      throw usage('not JSON, but perhaps CSV, which --batch reads from a file whose name ends in .csv')
    throw usage(`not valid JSON: ${(error as Error).message}`)
  }
  if (isRecord(value)) return value
  throw usage('not a JSON object')
}

function looseObject(text: string): object {
  const value = jsonOr(text)
  return isRecord(value) ? value : { body: text }
}

function isListParam(endpoint: Endpoint, name: string): boolean {
  const param = endpoint.params[name]
  return param !== undefined && isList(param.shape)
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every(item => typeof item === 'string')
}
