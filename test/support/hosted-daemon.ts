// A process that runs the daemons of many tests, each with its own port and store. Most tests are about the API, and starting
// a process costs more than they do. `daemon-host.ts` starts it and asks it.

import { type Daemon, startDaemon } from '../../daemon/daemon.ts'
import type { Ready } from '../../daemon/local/ready-file.ts'
import { readConfig } from '../../daemon/start/config.ts'
import { withConfigFile } from '../../daemon/start/config-file.ts'
import { writeRunning } from '../../daemon/start/ready.ts'
import type { Answer, Question } from './daemon-host.ts'

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

async function answerTo({ ask, daemon: number, args = [], env = {} }: Question): Promise<Ready | undefined> {
  if (ask === 'start') return start(number, args, env)
  const daemon = daemons.get(number)!
  if (ask === 'compact') await daemon.world.engine.compact()
  else await stop(number, daemon)
  return undefined
}

async function stop(number: number, daemon: Daemon): Promise<void> {
  daemons.delete(number)
  await daemon.stop()
  const failure = failures.get(number)
  if (failure) throw failure
}

/** As `daemon/main.ts` does it, without what a process has once: signals, output, exit code. */
async function start(number: number, args: readonly string[], env: NodeJS.ProcessEnv): Promise<Ready> {
  const config = readConfig(args, withConfigFile(env))
  const daemon = await startDaemon(config, error => failures.set(number, error))
  daemons.set(number, daemon)
  const { ready, localUrl } = daemon
  if (!config.memory) writeRunning(config.data, { pid: ready.pid, url: localUrl, args })
  return ready
}
