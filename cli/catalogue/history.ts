// `messages list --since --until --all`, which takes several calls, and finding messages that do not exist.

import { exitCodes, Failure, usage } from '../base/failure.ts'
import type { Account } from '../base/profile.ts'
import type { Reply } from '../base/reply.ts'
import { type ReadNow, readPast } from '../base/times.ts'
import { type CallOptions, call, type Request } from '../transport/client.ts'
import { Kept, nextAnchor } from '../transport/pages.ts'

/** The most that a server returns at once. */
const page = 5000

/** Which messages; times are UNIX seconds. */
interface Range {
  readonly since?: number | undefined
  readonly until?: number | undefined
  /** How many at most; the newest are taken. */
  readonly most?: number | undefined
}

export async function pastTime(flag: string, text: string, now: ReadNow): Promise<number> {
  const time = await readPast(text, now)
  if (time === undefined) throw usage(`--${flag}: "${text}" is not a time such as 10m, yesterday or 2030-01-31`)
  return time
}

/** Goes back from the newest, page by page, as far as the range goes; the reply looks like that of one call. */
export async function fetchRange(
  account: Account,
  request: Request,
  { since = 0, until = Number.POSITIVE_INFINITY, most = Number.POSITIVE_INFINITY }: Range,
  options: CallOptions,
): Promise<Reply> {
  const pages: Reply[][] = []
  const kept = new Kept()
  let count = 0
  let anchor: number | undefined
  // Every turn goes further back, so it ends at the oldest message at the latest.
  for (;;) {
    const fields = new Map(request.fields)
      .set('anchor', String(anchor ?? 'newest'))
      .set('include_anchor', String(anchor === undefined))
      .set('num_before', String(page))
      .set('num_after', '0')
    const reply = await call(account, { ...request, fields }, options)
    const found = reply.messages as Reply[]
    const wanted = found.filter(({ timestamp }) => Number(timestamp) >= since && Number(timestamp) <= until)
    kept.add(wanted)
    pages.unshift(wanted)
    count += wanted.length
    const oldest = found[0]
    if (!oldest || reply.found_oldest === true || Number(oldest.timestamp) < since || count >= most)
      return { ...reply, found_newest: true, messages: pages.flat().slice(Math.max(0, count - most)) }
    anchor = nextAnchor(found, anchor, true)
  }
}

/** Fails if some of the messages that were named do not exist. `done` are known to. */
export async function demandMessages(
  account: Account,
  named: readonly number[],
  done: readonly number[],
  options: CallOptions,
): Promise<void> {
  const open = [...new Set(named)].filter(id => !done.includes(id))
  if (open.length === 0) return
  const fields = new Map([['message_ids', JSON.stringify(open)]])
  const { messages } = await call(account, { method: 'GET', path: '/api/v1/messages', fields }, options)
  const there = new Set((messages as Reply[]).map(({ id }) => Number(id)))
  const absent = open.filter(id => !there.has(id))
  if (absent.length === 0) return
  const which = `${absent.slice(0, 10).join(', ')}${absent.length > 10 ? ` and ${absent.length - 10} more` : ''}`
  throw new Failure(exitCodes.notFound, `there is no message ${which}, or you cannot read it`, {
    hint: absent.length < named.length ? 'The other messages were changed.' : undefined,
  })
}
