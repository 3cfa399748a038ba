// A file of the server, piece by piece: it can be larger than memory.

import { createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { Failure, refusal } from '../base/failure.ts'
import type { Globals } from '../base/globals.ts'
import { type Account, accountFor, demandControlToken } from '../base/profile.ts'
import { bodyOf, defaultTimeout, headersOf, late, type Patience, siteOf, unreachable } from './client.ts'

/** `path` begins with `/control/v1`. */
export async function* downloadControl(
  globals: Partial<Globals>,
  path: string,
  patience: Patience,
): AsyncGenerator<Uint8Array> {
  const account = accountFor(globals, process.env)
  const headers = { Authorization: `Bearer ${demandControlToken(globals, process.env, account)}` }
  yield* download(siteOf(account), path, headers, patience)
}

/** A file that the account may fetch with its key. `path` begins at the root of the site. */
export async function* downloadAs(account: Account, path: string, patience: Patience): AsyncGenerator<Uint8Array> {
  yield* download(siteOf(account), path, headersOf(account), patience)
}

/** Gives `write` a stream to a file that gets its name when it is complete. */
export async function saveWhole(
  target: string,
  write: (stream: NodeJS.WritableStream) => Promise<void>,
  mode = 0o666,
): Promise<void> {
  const part = `${target}.part`
  try {
    await write(createWriteStream(part, { mode }))
    await rename(part, target)
  } catch (error) {
    await rm(part, { force: true })
    throw error
  }
}

/** Fails if the answer is a refusal, or ends before it is complete. */
async function* download(
  site: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  { timeout = defaultTimeout }: Patience,
): AsyncGenerator<Uint8Array> {
  const url = new URL(`${site}${path}`)
  const { get } = url.protocol === 'https:' ? await import('node:https') : await import('node:http')
  try {
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const outgoing = get(url, { headers, agent: false }, resolve)
      // Of silence: a large file may take longer.
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
