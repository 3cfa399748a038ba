// Many calls over few connections: NDJSON in, one result per line out, in the order of the lines.

import { createReadStream, readFileSync, statSync } from 'node:fs'
import type { Endpoint } from '../../daemon/api/define.ts'
import { readParams } from '../call.ts'
import { everydayFlags } from '../everyday.ts'
import { Ending, exitCodes, Failure, usage } from '../failure.ts'
import { flagName, type Given, isList, type Sources } from '../flags.ts'
import { requestOf } from '../forms.ts'
import type { Globals } from '../globals.ts'
import { type Account, accountFor } from '../profile.ts'
import type { BatchOptions } from '../subcommands.ts'
import { fullPath, methods } from './api.ts'
import { Pool } from './pool.ts'
import { Progress } from './progress.ts'

interface Call {
  readonly method: string
  readonly path: string
  readonly fields: ReadonlyMap<string, unknown>
}

interface Result {
  readonly text: string
  readonly failed: boolean
}

/** Lines are objects of params, by their names in the API or their flags'; flags given on the command line hold for all. */
export function callEach(
  endpoint: Endpoint,
  given: ReadonlyMap<string, Given>,
  batch: BatchOptions,
  { account, sources, globals }: { account: Account; sources: Sources; globals: Globals },
): Promise<void> {
  const paramNames = new Map<string, string>()
  for (const name of Object.keys(endpoint.params)) {
    paramNames.set(flagName(endpoint, name), name)
    paramNames.set(name, name)
  }
  for (const { name } of everydayFlags(endpoint)) paramNames.set(name, `@${name}`)
  return runAll(batch, account, globals, async line => {
    const plain: Record<string, unknown> = {}
    const texts = new Map(given)
    for (const [key, value] of Object.entries(line)) {
      const name = paramNames.get(key)
      if (name === undefined) throw usage(`"${key}" is not a parameter of ${endpoint.cli.name}`)
      texts.delete(name)
      // Texts are read as on the command line, so names stand for IDs; everything else is what it is.
      if (typeof value === 'string') texts.set(name, isListParam(endpoint, name) ? [value] : value)
      else if (isTexts(value) && isListParam(endpoint, name)) texts.set(name, value)
      else plain[name] = value
    }
    const stated: ReadonlyMap<string, Given> = new Map([
      ...texts,
      ...Object.keys(plain).map(name => [name, true] as const),
    ])
    const { path, fields } = requestOf(endpoint, { ...(await readParams(endpoint, stated, sources)), ...plain })
    return { method: endpoint.method, path: `/api/v1${path}`, fields }
  })
}

/** Lines are `{"method":"POST","path":"/typing","params":{…}}`. */
export function callLines(batch: BatchOptions, globals: Globals): Promise<void> {
  return runAll(batch, accountFor(globals, process.env), globals, async line => {
    const { method = 'GET', path, params = {} } = line
    if (typeof method !== 'string' || !methods.includes(method.toUpperCase()))
      throw usage(`"method" is not one of ${methods.join(', ')}`)
    if (typeof path !== 'string') throw usage('"path" is missing')
    if (typeof params !== 'object' || params === null) throw usage('"params" is not an object')
    return { method: method.toUpperCase(), path: fullPath(path), fields: new Map(Object.entries(params)) }
  })
}

async function runAll(
  { file, parallel, keepGoing }: BatchOptions,
  account: Account,
  globals: Globals,
  read: (line: Readonly<Record<string, unknown>>) => Promise<Call>,
): Promise<void> {
  const input = open(file)
  const pool = await Pool.open(account, parallel)
  const caller = new Caller(pool, globals)
  const progress = new Progress(countLines(file), globals)
  const results = new Results()
  const waiting: Promise<Result>[] = []
  let failed = 0
  const printFirst = async () => {
    const result = await waiting.shift()!
    if (result.failed) failed++
    progress.step(result.failed)
    await results.add(`${result.text}\n`)
  }
  try {
    let number = 0
    for await (const text of linesOf(input)) {
      number++
      if (text.trim() === '') continue
      const at = number
      waiting.push(attempt(at, text, read, caller))
      // Twice as many as run, so that one slow call does not leave the others idle.
      if (waiting.length >= (parallel === 1 ? 1 : parallel * 2)) await printFirst()
      if (failed > 0 && !keepGoing) break
    }
    while (waiting.length > 0) await printFirst()
  } finally {
    input.destroy()
    results.flush()
    progress.end()
    await pool.close()
  }
  if (failed > 0) throw new Ending(exitCodes.refused)
}

/** What comes back in one turn is written at once. */
class Results {
  #waiting = ''

  /** A promise when somebody is slow to read. */
  add(text: string): Promise<void> | undefined {
    if (this.#waiting === '') setImmediate(() => this.flush())
    this.#waiting += text
    const { stdout } = process
    return stdout.writableNeedDrain ? new Promise(resolve => stdout.once('drain', resolve)) : undefined
  }

  flush(): void {
    if (this.#waiting !== '') process.stdout.write(this.#waiting)
    this.#waiting = ''
  }
}

async function attempt(
  line: number,
  text: string,
  read: (line: Readonly<Record<string, unknown>>) => Promise<Call>,
  caller: Caller,
): Promise<Result> {
  try {
    const { status, text: body } = await caller.call(await read(objectFrom(text)))
    const failed = status >= 400
    // The reply is passed on as it came, with two fields before it.
    if (/^\{"/.test(body) && !body.includes('\n'))
      return { failed, text: `{"line":${line},"http":${status},${body.slice(1)}` }
    return { failed, text: JSON.stringify({ line, http: status, ...looseObject(body) }) }
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    const { code, message: msg, http } = error
    return { failed: true, text: JSON.stringify({ line, http, result: 'error', code, msg }) }
  }
}

/** Calls, and when told to slow down, holds all the others back too. */
class Caller {
  readonly #pool: Pool
  readonly #globals: Globals
  #gate: Promise<void> = Promise.resolve()

  constructor(pool: Pool, globals: Globals) {
    this.#pool = pool
    this.#globals = globals
  }

  async call({ method, path, fields }: Call): Promise<{ status: number; text: string }> {
    const form = new URLSearchParams()
    for (const [name, value] of fields) form.append(name, typeof value === 'string' ? value : JSON.stringify(value))
    for (;;) {
      await this.#gate
      const reply = await this.#pool.send(method, path, form.toString(), { timeout: this.#globals.timeout })
      if (reply.status !== 429) return reply
      const pause = Math.max(0, (reply.retryAfter ?? 1) * 1000)
      this.#gate = Promise.all([this.#gate, new Promise(resolve => setTimeout(resolve, pause))]).then(() => {})
    }
  }
}

function objectFrom(text: string): Readonly<Record<string, unknown>> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw usage(`not valid JSON: ${(error as Error).message}`)
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  throw usage('not a JSON object')
}

function looseObject(text: string): object {
  try {
    const value = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  } catch {
    // Whatever it is, it is passed on.
  }
  return { body: text }
}

function isListParam(endpoint: Endpoint, name: string): boolean {
  const param = endpoint.params[name]
  return param !== undefined && isList(param.shape)
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every(item => typeof item === 'string')
}

/** Without their ends, and without the promise per line that node:readline makes. */
async function* linesOf(input: NodeJS.ReadableStream): AsyncGenerator<string> {
  let rest = ''
  for await (const chunk of input.setEncoding('utf8')) {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop()!
    yield* lines
  }
  if (rest !== '') yield rest
}

function open(file: string) {
  if (file === '-') return process.stdin
  const found = statSync(file, { throwIfNoEntry: false })
  if (!found || found.isDirectory()) throw usage(`--batch: cannot read ${file}`)
  return createReadStream(file)
}

/** Undefined for what can be read only once. */
function countLines(file: string): number | undefined {
  if (file === '-' || !statSync(file).isFile()) return undefined
  let lines = 0
  const bytes = readFileSync(file)
  for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) lines++
  return lines
}
