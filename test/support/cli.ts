// Runs `natter` as a process of its own: the launcher with the bundle, or the sources where the bundle is older than they.

import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { pathToFileURL } from 'node:url'
import { runHere } from './cli-in-process.ts'
import type { TestDaemon } from './daemon.ts'
import { endProcess } from './end-process.ts'
import { bareEnv, isBundleFresh, type Outcome, type Surroundings } from './natter-bundle.ts'

const root = join(import.meta.dirname, '../..')

/** A user with an empty home: no profile, no zuliprc, no daemon. */
export class Shell {
  readonly home: string
  readonly env: Readonly<Record<string, string>>

  constructor(home: string, env: Readonly<Record<string, string>> = {}) {
    this.home = home
    this.env = env
  }

  with(env: Readonly<Record<string, string>>): Shell {
    return new Shell(this.home, { ...this.env, ...env })
  }

  /** Runs it in a process of its own. */
  async natter(args: readonly string[], surroundings: Surroundings = {}): Promise<Outcome> {
    const child = this.spawn(args, surroundings)
    const output = { stdout: '', stderr: '' }
    child.stdout!.setEncoding('utf8').on('data', text => {
      output.stdout += text
    })
    child.stderr!.setEncoding('utf8').on('data', text => {
      output.stderr += text
    })
    child.stdin!.on('error', () => {})
    child.stdin!.end(surroundings.input ?? '')
    const code = await exitOf(child)
    return { code, ...output }
  }

  /** Runs it in this process: for tests that are not about the process, the signals it gets or the programs it starts. */
  async run(args: readonly string[], { env = {}, cwd = this.home, ...others }: Surroundings = {}): Promise<Outcome> {
    return runHere(args, { env: { ...bareEnv, HOME: this.home, ...this.env, ...env }, cwd, ...others })
  }

  spawn(args: readonly string[], { env = {}, cwd = this.home }: Surroundings = {}): ChildProcess {
    return spawn(process.execPath, [...entry, ...args], {
      cwd,
      env: { ...bareEnv, HOME: this.home, ...this.env, ...env },
    })
  }
}

/** A child whose output is read line by line, as it comes. */
export class Watched {
  readonly child: ChildProcess
  readonly lines: string[] = []
  stderr = ''
  readonly ended: Promise<number | null>
  #rest = ''
  #look = () => {}

  constructor(t: TestContext, child: ChildProcess) {
    this.child = child
    this.ended = exitOf(child)
    t.after(() => endProcess(child))
    child.stdout!.setEncoding('utf8').on('data', text => {
      const parts = (this.#rest + text).split('\n')
      this.#rest = parts.pop()!
      this.lines.push(...parts)
      this.#look()
    })
    child.stderr!.setEncoding('utf8').on('data', text => {
      this.stderr += text
      this.#look()
    })
  }

  /** Waits for so many lines on stdout, and returns them. */
  async until(count: number): Promise<string[]> {
    await this.#wait(() => this.lines.length >= count, `${count} lines`)
    return this.lines
  }

  async said(pattern: RegExp): Promise<void> {
    await this.#wait(() => pattern.test(this.stderr), String(pattern))
  }

  #wait(met: () => boolean, what: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const late = () => reject(new Error(`no ${what}; stdout ${JSON.stringify(this.lines)}, stderr ${this.stderr}`))
      const timer = setTimeout(late, 180_000)
      this.#look = () => {
        if (!met()) return
        clearTimeout(timer)
        resolve()
      }
      this.#look()
    })
  }
}

export function newShell(t: TestContext, env: Readonly<Record<string, string>> = {}): Shell {
  const home = mkdtempSync(join(tmpdir(), 'natter-home-'))
  t.after(() => rmSync(home, { recursive: true, force: true }))
  return new Shell(home, env)
}

/** The environment that points at a server; the key is as good as any when nothing checks it. */
export function accountAt(url: string, email = 'amy@example.com', key = 'key-of-amy'): Record<string, string> {
  return { NATTER_SITE: url, NATTER_EMAIL: email, NATTER_API_KEY: key }
}

/** As `natter exec` has it for its command: the owner of a daemon, and its control plane. */
export function environmentOf({ url, ready }: Pick<TestDaemon, 'url' | 'ready'>): Record<string, string> {
  const { owner, control_token } = ready
  const token = control_token === undefined ? {} : { NATTER_CONTROL_TOKEN: control_token }
  return { ...accountAt(url, owner.email, owner.api_key), ...token }
}

/** A server that says what the test wants, for answers that a real daemon gives seldom. */
export async function fakeServer(
  t: TestContext,
  answer: (request: IncomingMessage, response: ServerResponse, body: string) => void,
): Promise<string> {
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', text => {
      body += text
    })
    request.on('end', () => answer(request, response, body))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

export function json(response: ServerResponse, body: object, status = 200, headers: Record<string, string> = {}): void {
  response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(body))
}

/** When its output is read to the end as well, not only when the process is gone. */
export function exitOf(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', code => resolve(code))
  })
}

const entry = isBundleFresh
  ? [join(root, 'bin/natter')]
  : ['--import', pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href, join(root, 'cli/main.ts')]

/** Program and arguments that run `natter`. */
export const natterCommand: readonly string[] = [process.execPath, ...entry]

/** Answers with spaces until the client has had enough. */
export function endless(response: ServerResponse): void {
  const piece = Buffer.alloc(1024 * 1024, ' ')
  const more = () => {
    while (!response.destroyed) if (!response.write(piece)) return void response.once('drain', more)
  }
  response.writeHead(200, { 'Content-Type': 'application/json' })
  more()
}
