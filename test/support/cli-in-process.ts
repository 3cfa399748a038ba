// Runs `natter` inside the test's own process, for the tests that run it hundreds of times. One run at a time.

import { Readable } from 'node:stream'
import { runProgram } from '../../cli/program.ts'
import type { Outcome, Surroundings } from './cli.ts'

let turn: Promise<unknown> = Promise.resolve()

export function inProcess(args: readonly string[], surroundings: Surroundings = {}): Promise<Outcome> {
  const run = turn.then(() => captured(args, surroundings))
  turn = run.catch(() => {})
  return run
}

async function captured(args: readonly string[], { env = {}, input = '' }: Surroundings): Promise<Outcome> {
  const output = { stdout: '', stderr: '' }
  const restore = [
    replaced(process, 'env', { ...bare, ...env }),
    replaced(process, 'stdin', Readable.from(input === '' ? [] : [Buffer.from(input)])),
    catching('stdout', text => {
      output.stdout += text
    }),
    catching('stderr', text => {
      output.stderr += text
    }),
  ]
  const listeners = process.stdout.listeners('error')
  try {
    const code = await runProgram(args)
    return { code, ...output }
  } finally {
    for (const undo of restore) undo()
    for (const listener of process.stdout.listeners('error'))
      if (!listeners.includes(listener)) process.stdout.off('error', listener as () => void)
    process.removeAllListeners('SIGINT')
  }
}

/** The runner reports on stdout too, as bytes; what a subcommand prints is text. */
function catching(name: 'stdout' | 'stderr', take: (text: string) => void): () => void {
  const stream = process[name]
  const write = stream.write
  stream.write = ((data: string | Uint8Array, ...rest: unknown[]) => {
    if (typeof data !== 'string') return write.call(stream, data, ...(rest as []))
    take(data)
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

/** Nobody's home: no profile and no zuliprc. */
const bare = { PATH: process.env.PATH ?? '', HOME: '/nonexistent', NATTER_CONFIG_DIR: '/nonexistent', TZ: 'UTC' }
