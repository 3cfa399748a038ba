// Fetches a file of the account's own site, with its key, and streams it to this machine.

import { createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { Failure, refusal } from '../base/failure.ts'
import type { Account } from '../base/profile.ts'
import { defaultTimeout, headersOf, late, siteOf, unreachable } from './client.ts'

/** Writes the file whole or not at all. */
export async function savePath(account: Account, path: string, target: string, timeout?: number): Promise<void> {
  const part = `${target}.part`
  try {
    await writePathTo(account, path, createWriteStream(part, { mode: 0o600 }), timeout)
    await rename(part, target)
  } catch (error) {
    await rm(part, { force: true })
    throw error
  }
}

/** Path: from the root of the site. */
export async function writePathTo(
  account: Account,
  path: string,
  target: NodeJS.WritableStream,
  timeout = defaultTimeout,
): Promise<void> {
  const site = siteOf(account)
  const url = new URL(site + path)
  const { get } = url.protocol === 'https:' ? await import('node:https') : await import('node:http')
  try {
    const incoming = await new Promise<IncomingMessage>((resolve, reject) => {
      const outgoing = get(url, { agent: false, headers: headersOf(account) }, resolve)
      outgoing.on('error', reject)
      // Of silence: a large file may take longer.
      outgoing.setTimeout(timeout, () => outgoing.destroy(late(site, timeout)))
    })
    if (incoming.statusCode !== 200) {
      incoming.resume()
      throw refusal(incoming.statusCode ?? 0, {}, incoming.rawHeaders)
    }
    // Standard output stays open for what comes after.
    await pipeline(incoming, target, { end: target !== process.stdout })
  } catch (error) {
    throw error instanceof Failure ? error : unreachable(site, error as NodeJS.ErrnoException)
  }
}
