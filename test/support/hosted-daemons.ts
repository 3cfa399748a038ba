// Starts daemons in one process beside that of the tests: `daemon-host-process.ts`. It ends with the process of the tests.

import { type ChildProcess, fork } from 'node:child_process'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Ready } from '../../daemon/local/ready-file.ts'

export interface Question {
  readonly id: number
  readonly ask: 'start' | 'compact' | 'stop'
  /** Which daemon: the number of the question that started it. */
  readonly daemon: number
  readonly args?: readonly string[]
  readonly env?: NodeJS.ProcessEnv
}

export interface Answer {
  readonly id: number
  readonly ready?: Ready | undefined
  readonly error?: string
}

interface Asked {
  resolve(ready: Ready | undefined): void
  reject(error: Error): void
}

class DaemonHost {
  readonly #child: ChildProcess
  readonly #asked = new Map<number, Asked>()
  #questions = 0
  #stderr = ''

  constructor() {
    // A run bundles it with the tests.
    const bundle = process.env.NATTER_TEST_HOST
    const program = bundle ?? join(import.meta.dirname, 'daemon-host-process.ts')
    const execArgv = bundle ? [] : ['--import', pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href]
    this.#child = fork(program, { execArgv, stdio: ['ignore', 'ignore', 'pipe', 'ipc'] })
    this.#child.stderr!.setEncoding('utf8').on('data', text => {
      this.#stderr = (this.#stderr + text).slice(-10_000)
    })
    this.#child.on('message', ({ id, ready, error }: Answer) => {
      const asked = this.#asked.get(id)!
      this.#forget(id)
      if (error === undefined) asked.resolve(ready)
      else asked.reject(new Error(error))
    })
    this.#child.once('exit', code => {
      host = undefined
      for (const { reject } of this.#asked.values())
        reject(new Error(`the process of the daemons ended with ${code}: ${this.#stderr}`))
    })
    this.#child.unref()
    ;(this.#child.stderr as unknown as { unref(): void }).unref()
    this.#child.channel!.unref()
  }

  async start(args: readonly string[], env: NodeJS.ProcessEnv): Promise<HostedDaemon> {
    const daemon = this.#questions
    const ready = (await this.#ask({ ask: 'start', daemon, args, env }))!
    return {
      ready,
      compact: async () => void (await this.#ask({ ask: 'compact', daemon })),
      stop: async () => void (await this.#ask({ ask: 'stop', daemon })),
    }
  }

  #ask(question: Omit<Question, 'id'>): Promise<Ready | undefined> {
    const id = this.#questions++
    return new Promise((resolve, reject) => {
      this.#asked.set(id, { resolve, reject })
      // The process of the tests must not end while it waits, and must be able to end when it does not.
      this.#child.channel!.ref()
      this.#child.send({ id, ...question } satisfies Question)
    })
  }

  #forget(id: number): void {
    this.#asked.delete(id)
    if (this.#asked.size === 0) this.#child.channel!.unref()
  }
}

export interface HostedDaemon {
  readonly ready: Ready
  compact(): Promise<void>
  /** Fails if the daemon has failed. */
  stop(): Promise<void>
}

let host: DaemonHost | undefined

/** Starts a daemon with these arguments and this environment; the host is started with the first one. */
export function hostDaemon(args: readonly string[], env: NodeJS.ProcessEnv): Promise<HostedDaemon> {
  host ??= new DaemonHost()
  return host.start(args, env)
}
