// Runs of `natter proxy`, and servers for them.

import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { createServer as createSecureServer } from 'node:https'
import type { AddressInfo, createServer as createSocketServer } from 'node:net'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { newShell, Watched } from './cli.ts'
import { interruptHere } from './cli-in-process.ts'
import type { Outcome } from './natter-bundle.ts'

/** `natter proxy` in front of a server. */
interface Proxy {
  readonly url: string
  readonly file: string
  /** Ends it as Ctrl-C does, and returns the lines of the recording. */
  stop(): Promise<Record<string, any>[]>
}

/** In the process of the tests. */
export async function startProxy(
  t: TestContext,
  to: string,
  flags: readonly string[] = [],
  before = '',
): Promise<Proxy> {
  const shell = newShell(t)
  const file = join(shell.home, 'talk.ndjson')
  if (before !== '') writeFileSync(file, before)
  let ended: Promise<Outcome> | undefined
  const url = await new Promise<string>((resolve, reject) => {
    ended = shell.run(['proxy', file, '--to', to, ...flags], { onPrint: text => resolve(text.trim()) })
    ended.then(({ stderr }) => reject(new Error(stderr)), reject)
  })
  t.after(interruptHere)
  return {
    url,
    file,
    async stop() {
      interruptHere()
      const { code, stderr } = await ended!
      assert.equal(code, 0, stderr)
      return linesOf(file)
    },
  }
}

/** With a process of its own. */
export async function startProxyAlone(
  t: TestContext,
  to: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Proxy> {
  const shell = newShell(t, env)
  const file = join(shell.home, 'talk.ndjson')
  const child = new Watched(t, shell.spawn(['proxy', file, '--to', to]))
  const [url] = await child.until(1)
  return {
    url: url!,
    file,
    async stop() {
      child.child.kill('SIGINT')
      assert.equal(await child.ended, 0, child.stderr)
      return linesOf(file)
    },
  }
}

function linesOf(recording: string): Record<string, any>[] {
  const lines = readFileSync(recording, 'utf8').trimEnd().split('\n')
  return lines.map(line => JSON.parse(line))
}

export async function listen(
  t: TestContext,
  server: Server | ReturnType<typeof createSocketServer> | ReturnType<typeof createSecureServer>,
): Promise<string> {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

export const upstream = (t: TestContext, answer: RequestListener) => listen(t, createServer(answer))
