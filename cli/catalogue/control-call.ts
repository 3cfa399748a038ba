// Runs a subcommand of the control plane: reads its params, sends them as JSON, prints the reply.

import { baseOf, type Endpoint } from '../../daemon/api/define.ts'
import { encodeJson } from '../../daemon/api/json-wire.ts'
import { addHint, exitCodes, Failure } from '../base/failure.ts'
import { forgetProfiles } from '../base/forget-profiles.ts'
import type { Globals } from '../base/globals.ts'
import { accountFor, controlTokenFor } from '../base/profile.ts'
import { printBytes } from '../base/writer.ts'
import type { Given, Sources } from '../input/flags.ts'
import { printReply } from '../print/output.ts'
import { createClock } from '../transport/clock.ts'
import { buildRequest, callControlPlane } from '../transport/control.ts'
import { callOptions, doneText } from './call.ts'
import { readParams } from './params.ts'

export async function callControl(
  endpoint: Endpoint,
  given: ReadonlyMap<string, Given>,
  globals: Globals,
): Promise<void> {
  const account = accountFor(globals, process.env)
  const shown = globals.dryRun || globals.curl
  const sources = { ...noSources, site: account.site, now: createClock(account, callOptions(endpoint, globals)) }
  const params = await readParams(endpoint, given, sources)
  if (endpoint.cli.log && !shown)
    return (await import('./log.ts')).showLog(endpoint, params, given.has('@follow'), globals)
  const { path, query, body } = encodeJson(endpoint, params)
  const request = { method: endpoint.method, path: `${baseOf(endpoint)}${path}${query}`, body }
  if (shown) {
    const token = controlTokenFor(globals, process.env, account) ?? ''
    return (await import('../print/request-text.ts')).printRequest(account, buildRequest(request, token), globals)
  }
  const { destroys } = endpoint.cli
  if (destroys && !globals.yes && (await isKept(globals)))
    await (await import('../input/confirm.ts')).confirm(destroys.question, globals)
  if (endpoint.cli.raw) {
    const { downloadControl } = await import('../transport/download.ts')
    const pieces = downloadControl(globals, request.path, callOptions(endpoint, globals))
    for await (const bytes of pieces) await printBytes(bytes)
    return
  }
  const reply = await callControlPlane(globals, request, callOptions(endpoint, globals)).catch(error => {
    const isBare = given.size === 0 && error instanceof Failure && error.parameter !== undefined && !error.hint
    throw isBare ? addHint(error, `Example: ${endpoint.cli.examples[0]}`) : error
  })
  const { shows, none, columns, unmet, says, forgets } = endpoint.cli
  if (forgets) {
    const gone = `${account.site}${filledIn(forgets, params)}`
    forgetProfiles(site => site === gone, process.env)
  }
  const lines = says && (await import('../print/sentences.ts')).sentences[says]
  const done = doneText(endpoint, { ...reply, ...params })
  const view = { shows, none, columns, shapes: endpoint.reply, ...(done && { done }) }
  if (unmet === undefined || reply.met === true)
    return printReply(reply, lines ? { ...view, says: reply => lines(reply, noNames) } : view, globals)
  if (globals.json) await printReply(reply, {}, globals)
  const near = ((reply.near ?? []) as { differs: string[] }[]).map(({ differs }) => `near: ${differs.join('; ')}`)
  throw new Failure(
    exitCodes.unmet,
    `${unmet} within ${given.get('within') ?? endpoint.params.within?.fallback}`,
    near.length > 0 ? { hint: near.join('\n  ') } : {},
  )
}

function filledIn(address: string, params: Readonly<Record<string, unknown>>): string {
  return address.replace(/\{(\w+)\}/g, (_match, name) => encodeURIComponent(String(params[name])))
}

/** Whether the daemon keeps its store on disk. A store in memory is deleted without a question. */
async function isKept(globals: Globals): Promise<boolean> {
  const { kept } = await callControlPlane(globals, { method: 'GET', path: '/control/v1/snapshots' }, globals)
  return kept === true
}

/** Replies of the control plane name accounts themselves. */
const noNames = async () => new Map<number, string>()

/** The daemon looks names up itself, and nothing here is read from stdin. */
const noSources: Omit<Sources, 'now'> = {
  names: { find: async (_kind, name) => name as never, channelName: async id => id },
  stdin: async () => '',
  secret: async () => '',
}
