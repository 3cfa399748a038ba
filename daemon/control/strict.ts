// `--strict`: compares calls with what public servers of the API family take. Every call is answered as before.

import type { Endpoint, Param } from '../api/define.ts'
import { planReading, readValue, travelsRaw } from '../api/reading.ts'
import { decode } from '../api/wire.ts'
import { inQuotes } from '../domain/refusal.ts'
import type { ArrivingCall, KnownCall } from '../http/exchange.ts'
import { didYouMean } from '../local/did-you-mean.ts'
import { type ClientFinding, type Finding, findingsText } from '../local/findings.ts'
import { isJson } from '../local/json.ts'
import { warn } from '../local/warnings.ts'
import type { Call } from './calls.ts'

/** Different findings that are kept; a client could think of any number of parameters. */
const mostKept = 1000
/** Those of one space in the list of the daemon, and those of all spaces. */
const [mostOfSpace, mostOfSpaces] = [100, 1000]

export class Findings {
  readonly #kept = new Map<string, ClientFinding>()
  readonly #daemon: { readonly all: Findings; readonly space: string } | undefined
  #leftOut = 0
  /** How many are kept of each space; null: of the daemon's own calls. */
  readonly #counts = new Map<string | null, number>()

  constructor(daemon?: { all: Findings; space: string }) {
    this.#daemon = daemon
  }

  /** Its findings are in this list too, because a test deletes its space before the run ends. */
  ofSpace(space: string): Findings {
    return new Findings({ all: this, space })
  }

  /** Findings that were not kept because there were too many. */
  get leftOut(): number {
    return this.#leftOut
  }

  add(call: Call, findings: readonly Finding[], space: string | null = null): void {
    this.#daemon?.all.add(call, findings, this.#daemon.space)
    const { id, user, user_agent: client, endpoint } = call
    for (const finding of findings) {
      const key = JSON.stringify([client, user, endpoint, finding])
      const known = this.#kept.get(key)
      if (!known && !this.#hasRoom(space)) this.#leftOut++
      else {
        if (!known) this.#counts.set(space, this.#count(space) + 1)
        const first = known ?? { calls: 0, first_call: id, space }
        const counted = { calls: first.calls + 1, first_call: first.first_call, last_call: id, space: first.space }
        this.#kept.set(key, { client, user, endpoint: endpoint!, ...finding, ...counted })
      }
    }
  }

  #hasRoom(space: string | null): boolean {
    const own = this.#count(null)
    if (space === null) return own < mostKept
    return this.#count(space) < mostOfSpace && this.#kept.size - own < mostOfSpaces
  }

  #count(space: string | null): number {
    return this.#counts.get(space) ?? 0
  }

  /** On stderr. Those of a space are in the report of the daemon. */
  report(prefix = ''): void {
    const found = this.list()
    if (found.length > 0 && !this.#daemon) warn(`${prefix}${findingsText(found, this.#leftOut)}`)
  }

  /** By client, then in the order of their first calls. */
  list(): ClientFinding[] {
    const clientOf = ({ client, user }: ClientFinding) => `${client}\n${user}`
    return [...this.#kept.values()].sort(
      (a, b) => clientOf(a).localeCompare(clientOf(b), 'en') || a.first_call - b.first_call,
    )
  }
}

/** At most a few for each parameter, of which a request has at most a thousand. */
export function findingsIn(arriving: ArrivingCall, known: KnownCall): Finding[] {
  return [...ofEndpoint(arriving, known), ...ofWholeCall(known), ...ofBody(arriving, known), ...ofParameters(known)]
}

function* ofEndpoint({ method, path }: ArrivingCall, { endpoint }: KnownCall): Generator<Finding> {
  const about = (kind: Finding['kind'], says: string): Finding => ({ kind, parameter: null, says })
  const name = `${method} ${path.replace(/^\/api\/v1(?=\/)/, '')}`
  if (endpoint.notOnPublicServers) yield about('refused', `public servers do not have ${name}`)
  if (endpoint.deprecated !== undefined) yield about('deprecated', `${name} is deprecated; ${endpoint.deprecated}`)
  const older = endpoint.also?.some(old => path.endsWith(old))
  if (older) yield about('deprecated', `${name} is deprecated; use ${endpoint.path}`)
}

/** What is missing, and what is not known. A call that Natter refuses itself needs no finding. */
function* ofWholeCall({ endpoint, path, fields }: KnownCall): Generator<Finding> {
  const here = decode(endpoint, path, fields)
  if ('rejected' in here) return
  const there = decode(endpoint, path, fields, true)
  if ('rejected' in there) {
    const { parameter = null } = there.rejected
    yield { kind: 'refused', parameter, says: `${parameter} is missing; public servers require it` }
  }
  for (const name of here.ignored) {
    const known = Object.hasOwn(endpoint.params, name)
    const meant = known ? undefined : didYouMean(name, listParams(endpoint))
    const says = `${inQuotes(name)} changes nothing${meant ? `. ${meant}` : ''}`
    yield { kind: 'ignored', parameter: name.slice(0, 100), says }
  }
}

/** Public servers do not read the body of a GET. */
function* ofBody({ method, query }: ArrivingCall, { sent }: KnownCall): Generator<Finding> {
  if ((method !== 'GET' && method !== 'HEAD') || sent.size === 0) return
  const inQuery = new URLSearchParams(query)
  for (const name of sent.keys())
    if (!inQuery.has(name)) {
      const says = `${inQuotes(name)} is in the body of a ${method}; public servers read the query string only`
      yield { kind: 'refused', parameter: name.slice(0, 100), says }
    }
}

function* ofParameters({ endpoint, fields }: KnownCall): Generator<Finding> {
  for (const [name, param] of Object.entries(endpoint.params)) {
    const { alias, deprecated, publicName } = param
    const given = fields.has(name) ? name : alias
    const value = given === undefined ? undefined : fields.get(given)
    if (given === undefined || value === undefined) continue
    const about = (kind: Finding['kind'], says: string): Finding => ({ kind, parameter: given, says })
    if (publicName !== undefined && given !== publicName)
      yield about('ignored', `public servers call ${name} ${publicName}`)
    if (given === alias && alias !== publicName) yield about('deprecated', `${alias} is deprecated; use ${name}`)
    if (deprecated !== undefined) yield about('deprecated', `${name} is deprecated; ${deprecated}`)
    if (typeof value !== 'string') continue
    const form = wrongForm(param, value)
    if (form) yield about('refused', `${given} ${form}`)
    for (const [word, instead] of Object.entries(param.deprecatedWords ?? {}))
      if (wordsIn(param, value).has(word)) yield about('deprecated', `${given}: ${word} is deprecated; use ${instead}`)
  }
}

/** Natter reads words with quotes and without; public servers read each parameter in one form. */
function wrongForm({ shape, jsonOnPublicServers }: Param, raw: string): string | undefined {
  if (jsonOnPublicServers) return isJson(raw) ? undefined : `must be JSON for public servers, as in ${inQuotes(raw)}`
  const quoted = travelsRaw(shape) && shape.type !== 'string' && raw.startsWith('"')
  return quoted ? 'must not be in quotes for public servers' : undefined
}

/** The words of a value that can be deprecated: the value itself, those in a list, operators, names of properties. */
function wordsIn({ shape }: Param, raw: string): Set<unknown> {
  const value = readValue(planReading(shape), raw)
  const words = new Set<unknown>()
  for (const item of Array.isArray(value) ? value : [value]) {
    const [operator, operand] = Array.isArray(item) ? item : [Object(item).operator, Object(item).operand]
    words.add(item).add(operator).add(`${operator}:${operand}`).add(Object(item).property)
  }
  return words
}

function listParams({ params }: Endpoint): string[] {
  return Object.keys(params).filter(name => params[name]!.presence !== 'path')
}
