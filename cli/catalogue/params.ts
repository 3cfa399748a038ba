// The params of one call: from the words and flags that were given, from stdin, and from names that the server knows.

import type { Endpoint } from '../../daemon/api/define.ts'
import { type Failure, usage } from '../base/failure.ts'
import type { Globals } from '../base/globals.ts'
import { warn } from '../base/note.ts'
import type { Account } from '../base/profile.ts'
import { flagName, type Given, isChoice, isMarkdown, readParam, type Sources, wordName } from '../input/flags.ts'
import { createNames } from '../input/names.ts'
import { readStdin } from '../input/stdin.ts'
import type { CallOptions } from '../transport/client.ts'
import { createClock } from '../transport/clock.ts'
import { fillIn, topicParam } from './everyday.ts'

/** The given params as the values to send. */
export async function readParams(
  endpoint: Endpoint,
  given: ReadonlyMap<string, Given>,
  sources: Sources,
): Promise<Record<string, unknown>> {
  const plain = hasLink(given) ? (await import('../input/links.ts')).withoutLinks(endpoint, given, sources.site) : given
  const filled = await fillIn(endpoint, plain, sources)
  const params: Record<string, unknown> = { ...filled.values }
  for (const [name, param] of Object.entries(endpoint.params)) {
    if (Object.hasOwn(params, name)) continue
    const value = filled.given.get(name)
    const label = labelParam(endpoint, name)
    const needed = param.presence === 'required' || param.presence === 'path'
    if (param.shape.ref === 'secret' && (value === '-' || (value === undefined && needed)))
      params[name] = await sources.secret(label)
    else if (value !== undefined) params[name] = await readParam(param, value, label, sources)
    else if (needed) throw missing(endpoint, name, filled.given)
  }
  warnOfCuts(endpoint, params)
  if (changesNothing(endpoint, params))
    throw usage(
      'nothing to change: no new value was given',
      `${stdinHint(endpoint, sources)}See natter ${endpoint.cli.name} --help`,
    )
  return params
}

function missing(endpoint: Endpoint, name: string, given: ReadonlyMap<string, Given>): Failure {
  const topic = topicParam(endpoint)
  const label = labelParam(endpoint, name)
  const see = `See natter ${endpoint.cli.name} --help`
  if (name !== 'stream_id' || topic === undefined) {
    const { about } = endpoint.params[name]!
    return usage(`${label} is missing`, `${about.charAt(0).toUpperCase()}${about.slice(1)}. ${see}`)
  }
  const text = given.get(topic)
  if (text === undefined) return usage(`${labelParam(endpoint, topic)} is missing`, `Write '#channel>topic'. ${see}`)
  if (/^#[^>]+$/.test(String(text))) return usage(`"${text}" does not name a topic`, `Write '${text}>topic'.`)
  const written = String(text).includes('>') ? `#${text}` : `#channel>${text}`
  return usage(`"${text}" does not name its channel`, `Write '${written}', or add ${label}.`)
}

function hasLink(given: ReadonlyMap<string, Given>): boolean {
  return [...given.values()].flat().some(value => typeof value === 'string' && value.includes('#narrow/'))
}

/** The server does not report that it shortened a text, so the command line has to. */
function warnOfCuts(endpoint: Endpoint, params: Readonly<Record<string, unknown>>): void {
  for (const [name, { cut }] of Object.entries(endpoint.params)) {
    const value = params[name]
    if (cut === undefined || typeof value !== 'string' || value.length <= cut) continue
    const length = [...value.trim()].length
    if (length > cut) warn(`${labelParam(endpoint, name)} has ${length} characters; the server cuts it to ${cut}`)
  }
}

/** `Bot key: ` for `--bot-key`. */
function promptFor(label: string): string {
  const words = label.replace(/^--|[<>]/g, '').replaceAll('-', ' ')
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}: `
}

/** Whether only the thing to change was named, for endpoints where every change is optional. */
function changesNothing({ method, params }: Endpoint, given: Readonly<Record<string, unknown>>): boolean {
  const changes = Object.entries(params).filter(([, { presence }]) => presence !== 'path')
  return (
    method === 'PATCH' &&
    changes.length > 0 &&
    changes.every(([name, { presence }]) => presence !== 'required' && !Object.hasOwn(given, name))
  )
}

/** An edit without a new text may be about something else, so it does not read stdin by itself. */
function stdinHint({ params }: Endpoint, { piped }: Sources): string {
  return piped && Object.values(params).some(({ shape }) => isMarkdown(shape)) ? 'Add - for the text on stdin. ' : ''
}

/** How an error message names a param: `--topic`, or `<content>`. */
export function labelParam(endpoint: Endpoint, param: string): string {
  if (!endpoint.cli.args?.includes(param)) return `--${flagName(endpoint, param)}`
  const { shape } = endpoint.params[param]!
  return `<${isChoice(shape) ? param.replaceAll('_', '-') : wordName(param, shape)}>`
}

/** Where values come from that are not on the command line. */
export function sourcesFor(account: Account, options: CallOptions, globals: Globals, piped: boolean): Sources {
  const shown = globals.dryRun || globals.curl
  const now = createClock(account, options)
  return {
    site: account.site,
    names: createNames(account, options),
    now: shown ? () => now().catch(() => new Date()) : now,
    stdin: stdinOnce(),
    piped,
    // A request that is only printed needs no secret.
    secret: async label => (shown ? '********' : (await import('../input/prompt.ts')).askSecret(promptFor(label))),
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
