// What a subcommand of the control plane does: find the daemon and its token, send JSON, print the reply.

import { readFileSync } from 'node:fs'
import { baseOf, type Endpoint } from '../../daemon/api/define.ts'
import { encodeJson } from '../../daemon/api/json-wire.ts'
import type { Ready } from '../../daemon/api/local.ts'
import { Ending, exitCodes, Failure, usage } from '../base/failure.ts'
import type { Globals } from '../base/globals.ts'
import { note } from '../base/note.ts'
import { type Account, accountFor, normalSite, readProfiles } from '../base/profile.ts'
import type { Given, Sources } from '../input/flags.ts'
import { printReply } from '../print/output.ts'
import { call } from '../transport/client.ts'
import { patienceFor, readParams } from './call.ts'

export async function callControl(
  endpoint: Endpoint,
  given: ReadonlyMap<string, Given>,
  globals: Globals,
): Promise<void> {
  const ready = readReadyFile((given.get('@ready-file') as string | undefined) ?? process.env.NATTER_READY_FILE)
  const account = accountFor({ ...globals, ...(ready && { site: ready.url }) }, process.env)
  const token = (given.get('@control-token') as string | undefined) ?? ready?.control_token ?? knownToken(account)
  const { path, query, body } = encodeJson(endpoint, await readParams(endpoint, given, sources))
  if (!token)
    throw new Failure(exitCodes.denied, 'no control token: give --control-token or NATTER_CONTROL_TOKEN', {
      hint: 'A daemon started with --memory or --control has one, in its ready file: --ready-file FILE reads it.',
    })
  const request = {
    method: endpoint.method,
    path: `${baseOf(endpoint)}${path}${query}`,
    fields: new Map(),
    authorization: `Bearer ${token}`,
    ...(body && { body: { type: 'application/json', bytes: Buffer.from(JSON.stringify(body)) } }),
  }
  const reply = await call(account, request, patienceFor(endpoint, globals))
  const { shows, columns, unmet } = endpoint.cli
  if (unmet === undefined || reply.met === true)
    return printReply(reply, { shows, columns, shapes: endpoint.reply }, globals)
  if (globals.json) await printReply(reply, {}, globals)
  note(`${unmet} within ${given.get('within') ?? endpoint.params.within?.fallback}`)
  for (const { differs } of reply.near as { differs: string[] }[]) note(`  near: ${differs.join('; ')}`)
  throw new Ending(exitCodes.unmet)
}

/** The daemon looks names up itself, and nothing here is read from stdin. */
const sources: Sources = {
  names: { find: async (_kind, name) => name as never },
  now: new Date(),
  stdin: async () => '',
  secret: async () => '',
}

function knownToken({ site }: Account): string | undefined {
  if (process.env.NATTER_CONTROL_TOKEN) return process.env.NATTER_CONTROL_TOKEN
  const known = Object.values(readProfiles(process.env).profiles)
  return known.find(profile => profile.control_token && normalSite(profile.site) === site)?.control_token
}

function readReadyFile(file: string | undefined): Ready | undefined {
  if (!file) return undefined
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    throw usage(`--ready-file: cannot read ${file}: ${(error as Error).message}`)
  }
}
