// A real daemon for a test, in a process with others or alone, and callers that use accounts. Every reply is checked against the
// catalogue; when the daemon stops, its journal is replayed and must give the same state.

import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Endpoint, ReplyOf, SentOf } from '../../daemon/api/define.ts'
import { endpointAt } from '../../daemon/api/levels/endpoint-at.ts'
import { defaultLevel } from '../../daemon/api/levels/releases.ts'
import { encode } from '../../daemon/api/wire.ts'
import type { Ready } from '../../daemon/local/ready-file.ts'
import { endProcess } from './end-process.ts'
import { type HostedDaemon, hostDaemon } from './hosted-daemons.ts'
import { formOf, type HttpReply, send } from './http.ts'
import { checkReplayed } from './replayed.ts'
import { replyProblem } from './reply-shape.ts'

const root = join(import.meta.dirname, '../..')

export interface DaemonOptions {
  readonly flags?: readonly string[]
  readonly data?: string
  readonly env?: Readonly<Record<string, string>>
  /** A command that runs it, such as `ip netns exec NAME`. */
  readonly exec?: readonly string[]
  /** Another natterd than that of this tree. */
  readonly program?: string | undefined
  /** In a process of its own: for tests of its signals, its output or its end. */
  readonly alone?: boolean
}

/** A process with one daemon. */
interface DaemonProcess {
  readonly child: ChildProcess
  readonly stderr: () => string
}

const notAlone = 'this daemon shares a process with others; start it with { alone: true }'

export class TestDaemon {
  readonly ready: Ready
  readonly data: string
  readonly owner: Caller
  readonly #runs: DaemonProcess | HostedDaemon
  readonly #closed: Promise<number | null> | undefined
  #ended = false

  constructor(ready: Ready, data: string, runs: DaemonProcess | HostedDaemon) {
    this.ready = ready
    this.data = data
    this.#runs = runs
    if ('child' in runs) this.#closed = new Promise(resolve => runs.child.once('close', resolve))
    const { email, api_key, user_id } = ready.owner
    this.owner = new Caller(ready.url, email, api_key, user_id, ready.level)
  }

  get process(): ChildProcess {
    return this.#alone.child
  }

  /** Resolves with the exit code when the process has ended and all of its output has arrived. */
  get closed(): Promise<number | null> {
    assert.ok(this.#closed, notAlone)
    return this.#closed
  }

  get #alone(): DaemonProcess {
    assert.ok('child' in this.#runs, notAlone)
    return this.#runs
  }

  get url(): string {
    return this.ready.url
  }

  get stderr(): string {
    return this.#alone.stderr()
  }

  /** A caller without an account. */
  get anonymous(): Caller {
    return new Caller(this.url)
  }

  get isRunning(): boolean {
    if (!('child' in this.#runs)) return !this.#ended
    const { exitCode, signalCode } = this.#runs.child
    return exitCode === null && signalCode === null
  }

  async kill(): Promise<void> {
    this.process.kill('SIGKILL')
    await this.closed
  }

  /** Stops it as an administrator would; it must exit with 0, and its journal must hold the whole state. */
  async stop(): Promise<void> {
    if (!this.isRunning) return
    if (existsSync(join(this.data, 'journal.ndjson'))) await this.#checkJournal()
    await this.end()
  }

  /** Stops it as an administrator would, without the check of its journal, which begins a new one. */
  async end(): Promise<void> {
    this.#ended = true
    if (!('child' in this.#runs)) return this.#runs.stop()
    this.#runs.child.kill('SIGTERM')
    assert.equal(await this.closed, 0, `natterd did not stop cleanly: ${this.stderr}`)
  }

  /** Ends it, if it still runs, without a check: its test has failed, or is about other things. */
  async discard(): Promise<void> {
    if (!this.isRunning) return
    if (!('child' in this.#runs)) return this.end().catch(() => {})
    await endProcess(this.#runs.child)
    await this.closed
  }

  /** Folds the journal into a new snapshot, and waits for it. */
  async compact(): Promise<void> {
    if ('child' in this.#runs) await this.#signalToCompact()
    else await this.#runs.compact()
  }

  async #signalToCompact(): Promise<void> {
    const snapshot = join(this.data, 'state.json')
    const made = () => statSync(snapshot, { throwIfNoEntry: false })?.ino
    const before = made()
    // It is finished when the part of the journal that the snapshot covers is gone, not when the snapshot appears.
    const forgotten = () => !readdirSync(this.data).some(name => /^journal-\d+\.ndjson$/.test(name))
    for (let waited = 0; made() === before || !forgotten(); waited += 10) {
      // Sent again from time to time: the signal is ignored while a compaction is running.
      if (waited % 200 === 0 && made() === before) this.process.kill('SIGUSR2')
      assert.ok(waited < 180_000, `natterd wrote no snapshot: ${this.stderr}`)
      await sleep(10)
    }
  }

  /** The journal from its beginning, or a snapshot and what came after it, must give the state of now. */
  async #checkJournal(): Promise<void> {
    const copy = mkdtempSync(`${this.data}-copy-`)
    try {
      copyStore(this.data, copy)
      await this.compact()
      await checkReplayed(copy, join(this.data, 'state.json'))
    } finally {
      rmSync(copy, { recursive: true, force: true })
    }
  }
}

/** Copies the store of a running daemon, which can finish a compaction at any moment: then the copy begins again. */
function copyStore(from: string, to: string): void {
  const parts = () => `${statSync(join(from, 'state.json'), { throwIfNoEntry: false })?.ino} ${journalsIn(from)}`
  for (let before: string; ; ) {
    before = parts()
    rmSync(to, { recursive: true })
    mkdirSync(to)
    for (const name of readdirSync(from, { recursive: true, encoding: 'utf8' }).sort()) copyEntry(from, to, name)
    if (parts() === before) return
  }
}

/** Copies one entry. The daemon can remove temporary files meanwhile: an entry that is gone is left out. */
function copyEntry(from: string, to: string, name: string): void {
  const [source, target] = [join(from, name), join(to, name)]
  try {
    if (statSync(source).isDirectory()) mkdirSync(target)
    // Linked, not copied: entries that come before the snapshot, such as the end of an idle queue, are still added.
    else if (isJournal(name)) linkSync(source, target)
    else copyFileSync(source, target)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}

function journalsIn(folder: string): string[] {
  return readdirSync(folder).filter(isJournal).sort()
}

function isJournal(name: string): boolean {
  return /^journal.*\.ndjson$/.test(name)
}

/**
 * A folder for a store that daemons of a test use one after the other. It is removed when the process ends: hooks of a test
 * run in the order in which they were added, and one that is added first would remove it under a daemon that still runs.
 */
export function newStoreFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'natter-test-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Starts a daemon that is stopped, and checked, when the test ends. */
export async function startDaemon(t: TestContext, options: DaemonOptions = {}): Promise<TestDaemon> {
  const data = options.data ?? mkdtempSync(join(tmpdir(), 'natter-test-'))
  const daemon = await begin(data, options)
  t.after(async () => {
    try {
      await daemon.stop()
    } finally {
      await daemon.discard()
      if (!options.data) rmSync(data, { recursive: true, force: true })
    }
  })
  return daemon
}

/** One daemon for all tests of the suite this is called in; for tests that do not interfere with each other. */
export function sharedDaemon(
  options: DaemonOptions = {},
  prepare: (daemon: TestDaemon) => Promise<void> = async () => {},
): () => TestDaemon {
  let daemon: TestDaemon | undefined
  const data = mkdtempSync(join(tmpdir(), 'natter-test-'))
  before(async () => {
    daemon = await begin(data, options)
    await prepare(daemon)
  })
  after(async () => {
    try {
      await daemon?.stop()
    } finally {
      await daemon?.discard()
      rmSync(data, { recursive: true, force: true })
    }
  })
  return () => daemon!
}

/** A process of its own for what cannot be had in one with others. */
function begin(data: string, options: DaemonOptions): Promise<TestDaemon> {
  const { alone, env, exec, program } = options
  return (alone ?? env ?? exec ?? program) ? launch(data, options) : host(data, options)
}

/** The process of a daemon that is starting; for tests that kill it before it is ready. */
export function spawnDaemon(data: string, options: DaemonOptions = {}): ChildProcess {
  const { exec = [], program = join(root, 'bin/natterd') } = options
  const [command, ...args] = [...exec, process.execPath, program, ...argumentsOf(data, options)]
  return spawn(command!, args, { stdio: ['ignore', 'pipe', 'pipe'], env: environmentOf(options) })
}

function argumentsOf(data: string, { flags = [] }: DaemonOptions): string[] {
  const store = flags.includes('--memory') ? [] : ['--data', data]
  return [...store, '--port', '0', '--json', '--no-profile', ...flags]
}

/** Without a config file of the person who runs the tests; and NATTER_SEED, which repeats a campaign, is a flag of the daemon, too. */
function environmentOf({ env = {} }: DaemonOptions): NodeJS.ProcessEnv {
  return { ...process.env, NATTER_SEED: undefined, NATTER_CONFIG_DIR: '/nonexistent', ...env }
}

/** Starts a daemon in a process with others; the caller has to stop it. */
export async function host(data: string, options: Pick<DaemonOptions, 'flags' | 'env'> = {}): Promise<TestDaemon> {
  const hosted = await hostDaemon(argumentsOf(data, options), environmentOf(options))
  return new TestDaemon(hosted.ready, data, hosted)
}

/** Starts a daemon in a process of its own that the caller has to stop; for tests that kill it. */
export async function launch(data: string, options: DaemonOptions = {}): Promise<TestDaemon> {
  const child = spawnDaemon(data, options)
  let stdout = ''
  let stderr = ''
  child.stderr!.setEncoding('utf8').on('data', text => {
    stderr += text
  })
  const ready = await new Promise<Ready>((resolve, reject) => {
    child.stdout!.setEncoding('utf8').on('data', text => {
      stdout += text
      if (stdout.includes('\n')) resolve(JSON.parse(stdout.slice(0, stdout.indexOf('\n'))))
    })
    child.once('exit', code => reject(new Error(`natterd ended with ${code}: ${stderr}`)))
  })
  return new TestDaemon(ready, data, { child, stderr: () => stderr })
}

export interface ErrorBody {
  readonly result: 'error'
  readonly msg: string
  readonly code: string
  readonly [field: string]: unknown
}

/** An account that calls the API. */
export class Caller {
  readonly url: string
  readonly email: string | undefined
  readonly key: string | undefined
  readonly id: number
  /** The feature level that replies are checked at. */
  readonly level: number

  constructor(url: string, email?: string, key?: string, id = 0, level = defaultLevel) {
    this.url = url
    this.email = email
    this.key = key
    this.id = id
    this.level = level
  }

  /** Calls an endpoint and expects success; the reply must have the shape the catalogue promises. */
  async call<E extends Endpoint>(endpoint: E, params: SentOf<E>): Promise<ReplyOf<E>> {
    const reply = await this.try(endpoint, params as Record<string, unknown>)
    if (reply.body.result !== 'success') assert.fail(`${endpoint.id} was refused: ${reply.text}`)
    return reply.body as never
  }

  /** Calls an endpoint and expects a refusal with this code. */
  async refused<E extends Endpoint>(endpoint: E, params: Record<string, unknown>, code: string): Promise<ErrorBody> {
    const reply = await this.try(endpoint, params)
    if (reply.body.code !== code) assert.fail(`${endpoint.id} answered ${reply.text} and not ${code}`)
    return reply.body as unknown as ErrorBody
  }

  /** Calls an endpoint and returns whatever it answers. */
  async try(
    endpoint: Endpoint,
    params: Record<string, unknown>,
    further: Record<string, string> = {},
  ): Promise<HttpReply> {
    const { path, fields } = encode(endpoint, params)
    const form = formOf(endpoint.method, fields)
    const headers = { ...form.headers, ...further }
    const { method } = endpoint
    const reply = await send(`${this.url}/api/v1${path}`, { method, auth: this.auth, ...form, headers })
    note(endpointAt(endpoint, this.level) ?? endpoint, reply)
    return reply
  }

  /** A raw request, for what no endpoint describes. */
  raw(method: string, path: string, options: Parameters<typeof send>[1] = {}): Promise<HttpReply> {
    return send(this.url + path, { method, auth: this.auth, ...options })
  }

  /** The same account at another address: of a daemon that was restarted. */
  at(url: string): Caller {
    return new Caller(url, this.email, this.key, this.id, this.level)
  }

  get auth(): string | undefined {
    return this.email === undefined ? undefined : `${this.email}:${this.key}`
  }
}

const recorded = new Set<string>()

/** Checks the reply against the catalogue, and records the call for the law that every endpoint is called. */
function note(endpoint: Endpoint, reply: HttpReply): void {
  const problem = reply.status === 500 ? 'it failed' : replyProblem(endpoint, reply)
  if (problem !== undefined) assert.fail(`${endpoint.id} answered ${reply.text}: ${problem}`)
  const code = reply.body.result === 'success' ? 'success' : String(reply.body.code)
  const line = `${endpoint.id} ${code}\n`
  const file = process.env.NATTER_TEST_CALLS
  if (file && !recorded.has(line)) appendFileSync(file, line)
  recorded.add(line)
}

export function readReady(file: string): Ready {
  return JSON.parse(readFileSync(file, 'utf8')) as Ready
}
