// Sends over restarts of a daemon: each message is tried until it is answered, and kept once.

import { randomUUID } from 'node:crypto'
import { keyHeader } from '../../daemon/api/idempotency.ts'
import { messages } from '../../daemon/api/messages/messages.ts'
import type { Caller } from './daemon.ts'
import { until } from './until.ts'

/** Until it is answered, and once. Resolves to the ID of the message. */
export async function sendInsistently(
  from: Caller,
  to: number,
  content: string,
  key: string = randomUUID(),
): Promise<number> {
  return until(async () => {
    const sent = from.try(messages.send, { type: 'direct', to: [to], content }, { [keyHeader]: key })
    const body = (await sent.catch(() => undefined))?.body
    return body?.result === 'success' ? Number(body.id) : undefined
  })
}

/** What the account has sent, of the newest messages that the reader sees. */
export async function contentsFrom(reader: Caller, senderId: number, newest = 1000): Promise<string[]> {
  const query = { anchor: 'newest', num_before: newest, num_after: 0, apply_markdown: false } as const
  const { messages: found } = await reader.call(messages.list, query)
  return found.filter(({ sender_id }) => sender_id === senderId).map(({ content }) => String(content))
}
