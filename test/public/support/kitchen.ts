// An organization with four users and a channel, for cases that share one daemon, and what users say in it.

import { type Caller, sharedDaemon, type TestDaemon } from '../../support/daemon.ts'
import { person } from '../../support/world.ts'
import { type Case, type Fields, ok } from './cases.ts'

export let daemon: TestDaemon
export let owner: Caller
export let amy: Caller
export let bob: Caller
export let cat: Caller
/** A channel that all but cat follow, and a message of amy in it. */
export let kitchen: number
export let lunch: number

/** Starts the daemon for the suite that this is called in. */
export function openKitchen(): void {
  sharedDaemon({ flags: ['--memory'] }, async started => {
    daemon = started
    owner = daemon.owner
    amy = await person(daemon, 'amy')
    bob = await person(daemon, 'bob')
    cat = await person(daemon, 'cat')
    kitchen = (await channel([owner, amy, bob], { name: 'kitchen' })).id
    lunch = await say(amy, 'lunch')
    await ok(owner, 'PATCH /realm', { enable_read_receipts: true })
  })
}

export interface Place {
  readonly id: number
  readonly name: string
}

let made = 0

/** A new channel of the owner. */
export async function channel(subscribers: readonly Caller[], more: Fields = {}): Promise<Place> {
  const given = { name: `place ${++made}`, subscribers: subscribers.map(({ id }) => id), ...more }
  return { id: (await ok(owner, 'POST /channels/create', given)).id, name: String(given.name) }
}

/** Sends a message to a channel; gives its ID. */
export async function say(from: Caller, topic: string, content = 'hello', to = kitchen): Promise<number> {
  return (await ok(from, 'POST /messages', { type: 'channel', to, topic, content })).id
}

/** A call of amy's that is refused. */
export function refused(
  title: string,
  line: string | (() => string),
  fields: Fields | (() => Fields),
  answer: Fields = {},
): Case {
  return [title, () => amy, line, fields, { status: 400, code: 'BAD_REQUEST', ...answer }]
}

/** Moves a message without notices. */
export function move(who: Caller, id: number, fields: Fields): Promise<unknown> {
  const quiet = { send_notification_to_new_thread: false, send_notification_to_old_thread: false }
  return ok(who, `PATCH /messages/${id}`, { ...quiet, ...fields })
}

/** Topics, contents and flags of what a user sees in a channel, oldest first. */
export async function said(who: Caller, place: Place): Promise<[topic: string, text: string, flags: string[]][]> {
  const { messages } = await ok(who, 'GET /messages', {
    anchor: 'newest',
    num_before: 100,
    num_after: 0,
    narrow: [{ operator: 'channel', operand: place.id }],
    apply_markdown: false,
    allow_empty_topic_name: true,
  })
  return messages
    .filter((m: Fields) => m.subject !== 'channel events')
    .map((m: Fields) => [m.subject, m.content, m.flags])
}
