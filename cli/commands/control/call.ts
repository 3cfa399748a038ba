// One call of the control plane. Its token comes from the flag, the environment, a ready file, or the profile of the site.

import { readFileSync } from 'node:fs'
import { exitCodes, Failure, usage } from '../../base/failure.ts'
import { type Account, accountFor, normalSite, readProfiles } from '../../base/profile.ts'
import type { Reply } from '../../base/reply.ts'
import type { ExtraFlag, ExtraSubcommand, Invocation } from '../../base/subcommand.ts'
import { printReply } from '../../print/output.ts'
import { call } from '../../transport/client.ts'

const tokenFlags: readonly ExtraFlag[] = [
  { name: 'control-token', value: 'TOKEN', about: 'what opens the control plane' },
  { name: 'ready-file', value: 'FILE', about: 'take the site and the token from this ready file' },
]

interface Form extends Omit<ExtraSubcommand, 'run' | 'globals'> {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** Below /control/v1. */
  path(call: Invocation): string
  body?(call: Invocation): object
  /** The field of the reply that people want to see. */
  readonly shows?: string
}

/** A subcommand that is one call of the control plane. */
export function controlled({ method, path, body, shows, flags = [], ...form }: Form): ExtraSubcommand {
  return {
    ...form,
    flags: [...flags, ...tokenFlags],
    globals: ['json', 'ndjson', 'fields', 'jq', 'site', 'profile', 'timeout', 'color', 'quiet'],
    async run(invocation) {
      const reply = await ask(invocation, method, path(invocation), body?.(invocation))
      await printReply(reply, { shows }, invocation.globals)
    },
  }
}

export async function ask({ flags, globals }: Invocation, method: string, path: string, body?: object): Promise<Reply> {
  const ready = readyFile((flags['ready-file'] as string | undefined) ?? process.env.NATTER_READY_FILE)
  const account = accountFor({ ...globals, ...(ready && { site: ready.url }) }, process.env)
  const token = (flags['control-token'] as string | undefined) ?? ready?.control_token ?? knownToken(account)
  if (!token)
    throw new Failure(exitCodes.denied, 'no token of a control plane is known', {
      hint: 'Start the daemon with --memory or --control, and give --ready-file, --control-token or NATTER_CONTROL_TOKEN.',
    })
  const request = { method, path: `/control/v1${path}`, fields: new Map(), authorization: `Bearer ${token}` }
  const sent = body && { type: 'application/json', bytes: Buffer.from(JSON.stringify(body)) }
  return call(account, sent ? { ...request, body: sent } : request, { timeout: globals.timeout })
}

/** A whole number from a flag, under the name the control plane has for it. */
export function numbers(flags: Invocation['flags'], names: readonly string[]): Record<string, number> {
  const given = names.filter(name => flags[name] !== undefined)
  return Object.fromEntries(
    given.map(name => {
      const value = Number(flags[name])
      if (Number.isNaN(value)) throw usage(`--${name}: "${flags[name]}" is not a number`)
      return [name, value]
    }),
  )
}

export function texts(flags: Invocation['flags'], names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.filter(name => flags[name] !== undefined).map(name => [name, flags[name]]))
}

function knownToken({ site }: Account): string | undefined {
  if (process.env.NATTER_CONTROL_TOKEN) return process.env.NATTER_CONTROL_TOKEN
  const known = Object.values(readProfiles(process.env).profiles)
  return known.find(profile => profile.control_token && normalSite(profile.site) === site)?.control_token
}

function readyFile(file: string | undefined): { url: string; control_token?: string } | undefined {
  if (!file) return undefined
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    throw usage(`--ready-file: ${file} cannot be read: ${(error as Error).message}`)
  }
}
