// A file of the control plane, piece by piece: it can be larger than memory.

import type { IncomingMessage } from 'node:http'
import { Failure, refusal } from '../base/failure.ts'
import type { Globals } from '../base/globals.ts'
import { accountFor, demandControlToken } from '../base/profile.ts'
import { bodyOf, defaultTimeout, late, type Patience, siteOf, unreachable } from './client.ts'

/** `path` begins with `/control/v1`. Fails if the answer is a refusal, or ends before it is complete. */
export async function* downloadControl(
  globals: Partial<Globals>,
  path: string,
  { timeout = defaultTimeout }: Patience,
): AsyncGenerator<Uint8Array> {
  const account = accountFor(globals, process.env)
  const site = siteOf(account)
  const headers = { Authorization: `Bearer ${demandControlToken(globals, process.env, account)}` }
  const url = new URL(`${site}${path}`)
  const { get } = url.protocol === 'https:' ? await import('node:https') : await import('node:http')
  try {
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const outgoing = get(url, { headers, agent: false }, resolve)
      outgoing.setTimeout(timeout, () => outgoing.destroy(late(site, timeout)))
      outgoing.on('error', reject)
    })
    if (answer.statusCode !== 200) await refuse(answer, site)
    yield* answer
  } catch (error) {
    throw error instanceof Failure ? error : unreachable(site, error as NodeJS.ErrnoException)
  }
}

async function refuse(answer: IncomingMessage, site: string): Promise<never> {
  const chunks: Buffer[] = []
  for await (const bytes of answer) chunks.push(bytes)
  const text = Buffer.concat(chunks).toString('utf8')
  const status = answer.statusCode ?? 0
  const found = { status, reason: answer.statusMessage ?? '', headers: answer.rawHeaders, text }
  throw refusal(status, bodyOf(found, site), answer.rawHeaders)
}
