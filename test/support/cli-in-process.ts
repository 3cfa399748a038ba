// Runs `natter` inside the test's own process, for tests that are not about the process: that takes a tenth of the time.
// The bundle is evaluated again for each run, so that no run sees what another left behind. One run at a time.

import { AsyncLocalStorage } from 'node:async_hooks'
import type { EventEmitter } from 'node:events'
import fs, { readFileSync } from 'node:fs'
import { createRequire, syncBuiltinESMExports } from 'node:module'
import os from 'node:os'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { setFlagsFromString } from 'node:v8'
import { Script } from 'node:vm'
import { bareEnv, bundleFile, isBundleFresh, type Outcome, type Surroundings } from './natter-bundle.ts'

const launcher = join(import.meta.dirname, '../../bin/natter')
const inside = new AsyncLocalStorage<true>()
let turn: Promise<unknown> = Promise.resolve()
let evaluate: (() => Promise<number>) | undefined
// The suites of a process listen to its end, each for its own files.
process.setMaxListeners(0)

/** Without a home folder: no profile and no zuliprc. */
export function inProcess(args: readonly string[], { env, ...others }: Surroundings = {}): Promise<Outcome> {
  return runHere(args, { env: { ...nobody, ...env }, ...others })
}

/** In this environment and no other. */
export function runHere(args: readonly string[], surroundings: Surroundings): Promise<Outcome> {
  const run = turn.then(() => captured(args, surroundings))
  turn = run.catch(() => {})
  return run
}

/** Ends the run in progress as Ctrl-C would, if it listens. */
export function interruptHere(): void {
  process.emit('SIGINT')
}

async function captured(
  args: readonly string[],
  { env = {}, input = '', cwd, onPrint = () => {} }: Surroundings,
): Promise<Outcome> {
  const output = { stdout: '', stderr: '' }
  const print = (text: string) => {
    output.stdout += text
    onPrint(text)
  }
  const { exitCode } = process
  const folder = process.cwd()
  const restore = [
    keptListeners(),
    replacedEnv(env),
    replaced(process, 'argv', [process.execPath, launcher, ...args]),
    keptPriority(),
    replaced(process, 'stdin', Readable.from(input.length === 0 ? [] : [Buffer.from(input as string)])),
    catching('stdout', print),
    catchingLines(print),
    catching('stderr', text => {
      output.stderr += text
    }),
  ]
  if (cwd !== undefined) process.chdir(cwd)
  try {
    const code = await inside.run(true, () => evaluated(args))
    return { code, ...output }
  } finally {
    process.chdir(folder)
    process.exitCode = exitCode
    for (const undo of restore) undo()
  }
}

/**
 * A run listens to signals, to its output and to the end of the process, and would still do so when it has ended. What was removed
 * meanwhile stays so: Node listens to the end of the process while it loads the tests, and would call it unfinished.
 */
function keptListeners(): () => void {
  const places: [EventEmitter, string][] = [
    [process.stdout, 'error'],
    ...['exit', 'SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'].map((name): [EventEmitter, string] => [process, name]),
  ]
  const kept = places.map(([emitter, name]) => [emitter, name, emitter.rawListeners(name)] as const)
  return () => {
    for (const [emitter, name, listeners] of kept)
      for (const listener of emitter.rawListeners(name))
        if (!listeners.includes(listener)) emitter.removeListener(name, listener as () => void)
  }
}

/** The bundle, or the sources where they are newer. */
async function evaluated(args: readonly string[]): Promise<number> {
  if (!isBundleFresh) return (await import('../../cli/program.ts')).runProgram(args)
  evaluate ??= compile(bundleFile)
  return evaluate()
}

/** As bin/launch.js does it. */
function compile(filename: string): () => Promise<number> {
  // V8 takes code caches only for the flags that they were made with. `test/run.ts` sets this one, which is read when a process starts.
  setFlagsFromString('--max-semi-space-size=0')
  const cachedData = readFileSync(`${filename}.cache`)
  const script = new Script(readFileSync(filename, 'latin1'), { filename, cachedData })
  const wrapper = script.runInThisContext()
  return () => {
    const module = { exports: {} as { ended: Promise<number> } }
    wrapper(module.exports, createRequire(filename), module, filename, dirname(filename))
    return module.exports.ended
  }
}

/** The runner reports on stdout too, as bytes; what a subcommand prints is text, or bytes that it was sent. */
function catching(name: 'stdout' | 'stderr', take: (text: string) => void): () => void {
  const stream = process[name]
  const write = stream.write
  stream.write = ((data: string | Uint8Array, ...rest: unknown[]) => {
    if (typeof data !== 'string' && !inside.getStore()) return write.call(stream, data, ...(rest as []))
    take(typeof data === 'string' ? data : Buffer.from(data).toString())
    const done = rest.find(item => typeof item === 'function') as (() => void) | undefined
    if (done) process.nextTick(done)
    return true
  }) as typeof stream.write
  return () => {
    stream.write = write
  }
}

function replaced(target: object, name: string, value: unknown): () => void {
  const before = Object.getOwnPropertyDescriptor(target, name)!
  Object.defineProperty(target, name, { value, configurable: true, enumerable: true, writable: true })
  return () => Object.defineProperty(target, name, before)
}

/** Only root could raise it again: all tests that follow, and what they start, would wait for other processes. */
function keptPriority(): () => void {
  return replacedIn(os, 'setPriority', () => {})
}

/** Lines of events go past the stream. */
function catchingLines(take: (text: string) => void): () => void {
  const { writeSync } = fs
  return replacedIn(fs, 'writeSync', (fd: number, data: Buffer, ...rest: never[]) => {
    if (fd !== 1 || !inside.getStore()) return writeSync(fd, data, ...rest)
    take(data.toString())
    return data.length
  })
}

/** Replaces a function of a module of node. The bundle looks it up at each call; sources have imported it, and updating them takes a millisecond. */
function replacedIn(module: object, name: string, value: unknown): () => void {
  const update = isBundleFresh ? () => {} : syncBuiltinESMExports
  const restore = replaced(module, name, value)
  update()
  return () => {
    restore()
    update()
  }
}

/** The variables of this very process: programs that natter starts, and the home folder, come from them. */
function replacedEnv(env: Readonly<Record<string, string>>): () => void {
  const before = { ...process.env }
  const set = (wanted: NodeJS.ProcessEnv) => {
    for (const name of Object.keys(process.env)) if (!(name in wanted)) delete process.env[name]
    // Most stay as they are, and setting one takes longer than looking.
    for (const [name, value] of Object.entries(wanted)) if (process.env[name] !== value) process.env[name] = value
  }
  set(env)
  return () => set(before)
}

const nobody = { ...bareEnv, HOME: '/nonexistent', NATTER_CONFIG_DIR: '/nonexistent', TZ: 'UTC' }
