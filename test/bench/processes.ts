// Processes under measurement: the bundles of ours and the small servers they are held against.

import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Ready } from '../../daemon/local/ready-file.ts'
import { freePort } from '../support/free-port.ts'

export const root = join(import.meta.dirname, '../..')
export const natterd = join(root, 'bin/natterd')

/** Without what the runner of this bench put into it for itself. */
export const { NODE_OPTIONS: _options, ...environment } = process.env

/**
 * For node beside programs that are not node. Node reads the certificates that this variable names at every start, which can take
 * longer than the rest of the start. That is a setting of the machine: it must weigh on both sides or on neither.
 */
const { NODE_EXTRA_CA_CERTS: _certificates, ...fairEnvironment } = environment

export { fairEnvironment }

const folders: string[] = []
const servers = new Set<Server>()

/** A folder that is gone after the bench. */
export function freshFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'natter-bench-'))
  folders.push(folder)
  return folder
}

export function referencePath(name: string): string {
  return join(import.meta.dirname, 'references', `${name}.cjs`)
}

/** Milliseconds from spawn to exit of a command that must succeed. */
export function timeCommand(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  program = process.execPath,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const began = performance.now()
    const child = spawn(program, args, { stdio: 'ignore', env: { ...environment, ...env } })
    child.once('error', reject)
    child.once('exit', code => {
      const took = performance.now() - began
      if (code === 0) resolve(took)
      else reject(new Error(`node ${args.join(' ')} ended with ${code}`))
    })
  })
}

/** A running server that said where it listens with one JSON line on stdout. */
export class Server {
  readonly ready: Ready
  readonly #child: ChildProcess

  constructor(child: ChildProcess, ready: Ready) {
    this.#child = child
    this.ready = ready
    servers.add(this)
  }

  /** Sends nothing and takes no share of the machine until it is resumed. */
  pause(): void {
    this.#child.kill('SIGSTOP')
  }

  resume(): void {
    this.#child.kill('SIGCONT')
  }

  /** Asks a daemon to write its snapshot now. */
  compact(): void {
    this.#child.kill('SIGUSR2')
  }

  /** KiB. */
  async residentSize(): Promise<number> {
    const ps = spawn('ps', ['-o', 'rss=', '-p', String(this.#child.pid)], { stdio: ['ignore', 'pipe', 'inherit'] })
    let text = ''
    for await (const chunk of ps.stdout) text += chunk
    return Number(text)
  }

  stop(): Promise<void> {
    servers.delete(this)
    return new Promise(resolve => {
      this.#child.once('exit', () => resolve())
      this.#child.kill('SIGKILL')
    })
  }
}

export interface Place {
  /** In the place of node. */
  readonly program?: string
  /** A descriptor for what it logs. */
  readonly stderr?: number
}

export function startServer(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  { program = process.execPath, stderr }: Place = {},
): Promise<Server> {
  const child = spawn(program, args, {
    stdio: ['ignore', 'pipe', stderr ?? 'inherit'],
    env: { ...environment, ...env },
  })
  return new Promise((resolve, reject) => {
    let text = ''
    child.stdout!.setEncoding('utf8').on('data', chunk => {
      text += chunk
      if (text.endsWith('\n')) resolve(new Server(child, JSON.parse(text)))
    })
    child.once('error', reject)
    child.once('exit', code => reject(new Error(`node ${args.join(' ')} ended with ${code} before it was ready`)))
  })
}

/** A server that says nothing when it is ready: `args` gets the port, and `path` is asked for until it is answered. */
export async function startSilent(args: (port: number) => readonly string[], path: string): Promise<Server> {
  const port = await freePort()
  const child = spawn(process.execPath, args(port), { stdio: 'ignore', env: environment })
  const url = `http://127.0.0.1:${port}`
  const server = new Server(child, { url } as Ready)
  const end = performance.now() + 120_000
  for (;;) {
    try {
      await request(url + path)
      return server
    } catch (error) {
      if (child.exitCode !== null) throw new Error(`node ${args(port).join(' ')} ended with ${child.exitCode}`)
      if (performance.now() > end) throw error
      await sleep(5)
    }
  }
}

export function startDaemon(
  flags: readonly string[],
  env: Readonly<Record<string, string>> = {},
  place: Place = {},
): Promise<Server> {
  return startServer([natterd, ...daemonFlags, ...flags], env, place)
}

export const daemonFlags = ['--port', '0', '--json', '--no-rate-limit']

export function authorization({ owner }: Ready): string {
  return `Basic ${Buffer.from(`${owner.email}:${owner.api_key}`).toString('base64')}`
}

/** One request that must be answered with 200. */
export function request(url: string, headers: Record<string, string> = {}): Promise<void> {
  return new Promise((resolve, reject) => {
    get(url, { agent: false, headers }, answer => {
      answer.resume().once('end', () => {
        if (answer.statusCode === 200) resolve()
        else reject(new Error(`${url} answered ${answer.statusCode}`))
      })
    }).once('error', reject)
  })
}

export async function stopAll(): Promise<void> {
  for (const server of servers) await server.stop()
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
}
