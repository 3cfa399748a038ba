// A process that runs the daemons of many tests, each with its own port and store. Most tests are about the API, and starting
// a process costs more than they do. `hosted-daemons.ts` starts it and asks it.

import childProcess from 'node:child_process'
import { EventEmitter } from 'node:events'
import { createRequire, syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import type { Daemon } from '../../daemon/daemon.ts'
import type { Ready } from '../../daemon/local/ready-file.ts'
import type { Answer, Question } from './hosted-daemons.ts'
import { isAsNewAs } from './natter-bundle.ts'

const root = join(import.meta.dirname, '../..')
// All that a daemon starts is flock(1), which keeps out daemons of other containers. A fork takes longer than the rest of a start
// where a process has as much memory as this one. Daemons of this machine, alone or not, are kept out by the name of the store.
childProcess.spawn = (() => {
  const flock = new EventEmitter()
  setImmediate(() => flock.emit('exit', 0))
  return flock
}) as unknown as typeof childProcess.spawn
syncBuiltinESMExports()
// The program runs when it is loaded; this lets it print a line that is ignored.
process.argv[2] = '--version'
const program = loadProgram()
const daemons = new Map<number, Daemon>()
const failures = new Map<number, Error>()

process.on('message', async (question: Question) => {
  const answer: Answer = await answerTo(question).then(
    ready => ({ id: question.id, ready }),
    (error: Error) => ({ id: question.id, error: error.message }),
  )
  process.send!(answer)
})
// The process of the tests has ended.
process.on('disconnect', () => process.exit())

/** The bundle, which is loaded in a fifth of the time, or the sources where they are newer. */
async function loadProgram(): Promise<typeof import('../../daemon/main.ts')> {
  if (!isAsNewAs(join(root, 'dist/natterd.cjs'), ['daemon'])) return import('../../daemon/main.ts')
  return createRequire(join(root, 'bin/'))('./launch.js').run('natterd.cjs').module.exports
}

async function answerTo({ ask, daemon: number, args = [], env = {} }: Question): Promise<Ready | undefined> {
  if (ask === 'start') return start(number, args, env).catch(giveUp)
  const daemon = daemons.get(number)!
  if (ask === 'compact') await daemon.world.engine.compact()
  else await stop(number, daemon)
  return undefined
}

/** In the form of `launch`: the exit code, and what `daemon/main.ts` prints. */
function giveUp(error: Error): never {
  const code = error.constructor.name === 'UsageError' ? 2 : 1
  throw new Error(`natterd ended with ${code}: natterd: ${error.message}\n`)
}

async function stop(number: number, daemon: Daemon): Promise<void> {
  daemons.delete(number)
  await daemon.stop()
  const failure = failures.get(number)
  if (failure) throw failure
}

/** As `daemon/main.ts` does it, without what a process has once: signals, output, exit code. */
async function start(number: number, args: readonly string[], env: NodeJS.ProcessEnv): Promise<Ready> {
  const { readConfig, startDaemon, withConfigFile, writeRunning } = await program
  const config = readConfig(args, withConfigFile(env))
  const daemon = await startDaemon(config, error => failures.set(number, error))
  daemons.set(number, daemon)
  const { ready, localUrl } = daemon
  if (!config.memory) writeRunning(config.data, { pid: ready.pid, url: localUrl, args })
  return ready
}
