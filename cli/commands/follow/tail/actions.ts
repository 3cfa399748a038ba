// Actions for an event other than printing it: run a command, reply with the command's output, forward the event.
// The command is the user's own shell text. Message content reaches it only as JSON on stdin and in variables.

import { spawn } from 'node:child_process'
import { Repeater } from '../../../../daemon/client/repeater.ts'
import type { ChatEvent, Place } from '../../../base/chat-event.ts'
import { exitCodes, Failure, usage } from '../../../base/failure.ts'
import { note } from '../../../base/note.ts'
import { printBytes } from '../../../base/writer.ts'
import type { Connection } from '../../../transport/connection.ts'
import { isPassingFailure } from './follow.ts'

/** Throws a Failure if it fails. */
export type Action = (event: ChatEvent, place: Place | undefined) => Promise<void>

export function execAction(command: string, connection: Connection): Action {
  return async (event, place) => {
    const output = await run(command, event, variablesFor(event, place, connection))
    if (output.length > 0) await printBytes(output)
  }
}

/** Replies to messages of others in their conversation. Never to its own: that would be a loop. */
export function replyAction(
  command: string,
  connection: Connection,
  self: { id?: number; email?: string },
  signal: AbortSignal,
): Action {
  const isPassing = (error: unknown) => isPassingFailure(error) && (error as Failure).http !== 500
  const repeater = new Repeater({ isPassing, say: note, signal })
  return async (event, place) => {
    const { message } = event
    if (event.type !== 'message' || !message) return
    if (message.sender_id === self.id || message.sender_email === self.email) return
    const output = await run(command, event, variablesFor(event, place, connection))
    const content = output.toString('utf8').replace(/\s+$/, '')
    if (content === '') return
    const to = place?.people
      ? { type: 'direct', to: place.people.map(person => Number(person.id ?? person.user_id)) }
      : { type: 'channel', to: message.stream_id, topic: message.subject ?? '' }
    await repeater.change(idempotencyKey =>
      connection.call('POST', '/messages', { ...to, content }, { idempotencyKey }),
    )
  }
}

export async function forwardAction(target: string, given: readonly string[], timeout: number): Promise<Action> {
  const url = URL.canParse(target) ? new URL(target) : undefined
  if (!url || !/^https?:$/.test(url.protocol)) throw usage(`--forward-to: "${target}" is not a URL`)
  const headers = { 'content-type': 'application/json', ...Object.fromEntries(given.map(headerFrom)) }
  const { request } = await import('undici')
  return async event => {
    const began = performance.now()
    let status: number
    try {
      const answer = await request(url, {
        method: 'POST',
        headers,
        body: JSON.stringify(event),
        signal: AbortSignal.timeout(timeout),
      })
      status = answer.statusCode
      await answer.body.dump()
    } catch (error) {
      throw new Failure(exitCodes.unreachable, `cannot forward ${nameOf(event)} to ${url}: ${reasonOf(error)}`)
    }
    if (status >= 300) throw new Failure(exitCodes.refused, `${url} answered ${status} to ${nameOf(event)}`)
    note(`${status} POST ${url} ${nameOf(event)} (${Math.round(performance.now() - began)} ms)`)
  }
}

/** `X-Token: abc`. Names are compared without case, so one given here replaces ours. */
function headerFrom(text: string): [string, string] {
  const [, name, value] = /^([\w!#$%&'*+.^`|~-]+):\s*(.*)$/.exec(text) ?? []
  if (name === undefined || !/^[\t\x20-\x7e]*$/.test(value!))
    throw usage(`--forward-header: "${text}" is not a header such as "X-Token: abc"`)
  return [name.toLowerCase(), value!]
}

/** An event as a person would call it. */
function nameOf({ type, id, message }: ChatEvent): string {
  const which = message === undefined ? id : message.id
  return which === undefined || which === null ? type : `${type} ${which}`
}

function reasonOf(error: unknown): string {
  const { message, cause } = error as Error & { cause?: NodeJS.ErrnoException }
  return cause?.code ?? (error as NodeJS.ErrnoException).code ?? message
}

/** Characters of a variable. Linux takes no more than 128 KiB, Windows no more than 32,767 characters. */
const longestValue = 32_000

/** Convenience for shell scripts; the whole event is on stdin. */
function variablesFor(
  event: ChatEvent,
  place: Place | undefined,
  { account }: Pick<Connection, 'account'>,
): Record<string, string> {
  const { message } = event
  const values: Record<string, unknown> = {
    NATTER_SITE: account.site,
    NATTER_EMAIL: account.email,
    NATTER_API_KEY: account.apiKey,
    NATTER_EVENT_ID: event.id,
    NATTER_TYPE: event.type,
    NATTER_OP: event.op,
    NATTER_MESSAGE_ID: message?.id ?? event.message_id,
    NATTER_SENDER: place?.senderEmail,
    NATTER_SENDER_ID: place?.senderId,
    NATTER_SENDER_NAME: place?.senderName,
    NATTER_CHANNEL: place?.channel,
    NATTER_CHANNEL_ID: place?.channelId,
    NATTER_TOPIC: place?.topic,
    NATTER_CONTENT: message?.content ?? event.content,
    NATTER_FLAGS: event.flags?.join(','),
  }
  // An empty variable is better than the value of another event or of the calling shell.
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      String(value ?? '')
        .replaceAll('\0', '')
        .slice(0, longestValue),
    ]),
  )
}

function run(command: string, event: ChatEvent, variables: Record<string, string>): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, {
      shell: true,
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { ...process.env, ...variables },
    })
    const chunks: Buffer[] = []
    child.stdout.on('data', chunk => chunks.push(chunk))
    child.on('error', error => reject(new Failure(exitCodes.refused, `cannot run the command: ${error.message}`)))
    child.on('close', (code, signal) => {
      if (code === 0) resolve(Buffer.concat(chunks))
      else reject(new Failure(exitCodes.refused, `the command failed with ${signal ?? `exit code ${code}`}`))
    })
    // It is fine if the command does not read its input.
    child.stdin.on('error', () => {})
    child.stdin.end(`${JSON.stringify(event)}\n`)
  })
}
