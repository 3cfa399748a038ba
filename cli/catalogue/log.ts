// Logs of the control plane, one line per entry: `natter requests`, `natter events`, and `--follow`.

import { setTimeout as sleep } from 'node:timers/promises'
import { baseOf, type Endpoint } from '../../daemon/api/define.ts'
import { encodeJson } from '../../daemon/api/json-wire.ts'
import type { Globals } from '../base/globals.ts'
import { note } from '../base/note.ts'
import type { Reply } from '../base/reply.ts'
import { printReply } from '../print/output.ts'
import { logLines } from '../terminal/log-lines.ts'
import { callControlPlane } from '../transport/control.ts'

type Params = Readonly<Record<string, unknown>>

/** How many entries a follower shows to begin with. */
const firstEntries = 10
/** Entries that the daemon keeps. */
const keptEntries = 1000
/** How long the daemon waits for an entry, and how long its answer may take, in milliseconds. */
const turn = { within: '30s', timeout: 60_000 }
/** Milliseconds after an answer with nothing new, which a server may give at once. */
const idlePause = 100

export async function showLog(endpoint: Endpoint, params: Params, follow: boolean, globals: Globals): Promise<void> {
  const fetch = (more: Params, timeout = globals.timeout) => {
    const { path, query } = encodeJson(endpoint, { ...params, ...more })
    const request = { method: endpoint.method, path: `${baseOf(endpoint)}${path}${query}` }
    return callControlPlane(globals, request, { ...globals, timeout })
  }
  const emails = addressBook(globals)
  if (!follow) return print(endpoint, params, await fetch({}), emails, globals)
  const { field, param } = endpoint.cli.log!.follow!
  let reply = await fetch({ limit: params.limit ?? firstEntries })
  // Ends with the process.
  for (;;) {
    const shown = omitUnfinished(endpoint, reply)
    if ((shown[endpoint.cli.shows!] as Reply[]).length > 0)
      await print(endpoint, params, shown, emails, withLines(globals))
    const last = Number(reply.last_id)
    reply = await fetch({ [param]: reply[field], limit: keptEntries, within: turn.within }, turn.timeout)
    if (!(Number(reply.last_id) > last)) await sleep(idlePause)
    const skipped = Number(reply.last_id) - last - keptEntries
    if (skipped > 0) note(`skipped up to ${skipped} entries: they came faster than they could be read`)
  }
}

/** A call that is still being served is shown when it is answered, once. */
function omitUnfinished({ cli: { shows } }: Endpoint, reply: Reply): Reply {
  const entries = reply[shows!] as Reply[]
  return { ...reply, [shows!]: entries.filter(({ status, lost }) => status !== null || lost === true) }
}

/** One object per line: a stream has no end that could close a list. */
function withLines(globals: Globals): Globals {
  return { ...globals, json: false, ndjson: globals.json || globals.ndjson || globals.jq !== undefined }
}

type Emails = ReadonlyMap<number, string>

async function print(
  endpoint: Endpoint,
  params: Params,
  reply: Reply,
  emails: () => Promise<Emails>,
  globals: Globals,
): Promise<void> {
  const { shows, log } = endpoint.cli
  const shown = reply[shows!] as Reply | Reply[]
  const entries = Array.isArray(shown) ? shown : [{ ...shown, answer: reply.answer }]
  const full = params.full === true || !Array.isArray(shown)
  const lines = async () => {
    // Calls have addresses, events only IDs.
    const known: Emails = log!.of === 'events' && entries.length > 0 ? await emails() : new Map()
    return logLines(log!.of, entries, full, known, globals)
  }
  await printReply(reply, { shows, shapes: endpoint.reply, lines, done: `no ${shows}` }, globals)
}

/** Addresses by user ID, asked for once. */
function addressBook(globals: Globals): () => Promise<Emails> {
  let book: Promise<Emails> | undefined
  return () => {
    book ??= callControlPlane(globals, { method: 'GET', path: '/control/v1/accounts' }, globals).then(
      ({ accounts }) => new Map((accounts as Reply[]).map(({ user_id, email }) => [Number(user_id), String(email)])),
    )
    return book
  }
}
