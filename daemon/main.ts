// The process: reads the flags, starts the daemon, announces that it is ready, and stops on a signal.

import { homedir } from 'node:os'
import { join } from 'node:path'
import { isatty } from 'node:tty'
import { Defect } from './boundary.ts'
import { type Daemon, startDaemon } from './daemon.ts'
import { ReplicaFailed } from './journal/replicated-journal.ts'
import { StoreGone } from './journal/store-folder.ts'
import { locateConfigFile } from './local/config-file.ts'
import { findOpen } from './local/open-files.ts'
import { type Ready, readyFileName } from './local/ready-file.ts'
import { version } from './local/version.ts'
import { warn } from './local/warnings.ts'
import { type Config, helpText, readConfig, UsageError, wants } from './start/config.ts'
import { nameSources, withConfigFile } from './start/config-file.ts'
import {
  banner,
  bannerWithoutKey,
  type KeyPlace,
  prepareReadyFile,
  profilesFile,
  writeProfile,
  writeReady,
  writeRunning,
} from './start/ready.ts'

// For a process that runs several daemons, as tests do.
export { readConfig, startDaemon, withConfigFile, writeRunning }

export async function main(args: readonly string[]): Promise<void> {
  if (wants(args, 'help')) return void process.stdout.write(helpText())
  if (wants(args, 'version')) return void process.stdout.write(`natterd ${version()}\n`)
  let env = process.env
  try {
    env = withConfigFile(env)
    const config = readConfig(args, env)
    if (config.readyFile) await prepareReadyFile(config.readyFile)
    await run(config, args)
  } catch (error) {
    giveUp(error instanceof UsageError ? nameSources(error, args, process.env, env) : error)
  }
}

async function run(config: Config, args: readonly string[]): Promise<void> {
  let daemon: Daemon | undefined
  const onFailure = (error: Error) => {
    process.stderr.write(describeFailure(error))
    // Leaves time for the answers to requests in progress.
    setTimeout(() => {
      daemon?.disconnect()
      endProcess()
    }, 100)
  }
  daemon = await startDaemon(config, onFailure)
  stopOnSignals(daemon, onFailure)
  for (const { says, command } of findOpen(privatePaths(config))) warn(`warning: ${says}; run ${command}`)
  try {
    await announce(config, daemon, args)
    keepCodeCache()
  } catch (error) {
    // Otherwise a program that waits for the ready file would wait without end.
    await daemon.stop()
    throw error
  }
}

/** Saves the compiled code of the start, see bin/code-cache.js. Single executables and sources run without it. */
function keepCodeCache(): void {
  const launcher = globalThis as { [key: symbol]: { keepSoon(): void } | undefined }
  launcher[Symbol.for('natter.code-cache')]?.keepSoon()
}

/** Paths that only the user of the daemon should be able to read. */
function privatePaths(config: Config): string[] {
  const { memory, data, secretFile, smtpUrlFile, clusterPasswordFile, clusterKey, tlsKey } = config
  const store = memory ? [] : [data, join(data, 'secret')]
  const named = [secretFile, smtpUrlFile, clusterPasswordFile, clusterKey, tlsKey].filter(file => file !== undefined)
  return [...store, ...named, locateConfigFile(process.env, homedir()).path]
}

async function announce(config: Config, { ready, localUrl }: Daemon, args: readonly string[]): Promise<void> {
  if (!config.memory) writeRunning(config.data, { pid: ready.pid, url: localUrl, args })
  const profile = !config.noProfile && !config.memory ? await rememberProfile(ready, config.data) : undefined
  if (config.readyFile) writeReady(config.readyFile, ready)
  if (config.json) return void process.stdout.write(`${JSON.stringify(ready)}\n`)
  const store = config.memory ? 'memory only' : config.data
  if (isatty(2)) return void process.stderr.write(banner(ready, store, profile ?? 'none'))
  // Without a terminal, stderr usually goes to a log that other users can read, so the key is not printed.
  const own = profile || config.readyFile || config.memory ? undefined : join(config.data, readyFileName)
  if (own) writeReady(own, ready)
  const file = config.readyFile ?? own
  process.stderr.write(
    bannerWithoutKey(
      ready,
      store,
      profile ?? (file ? { file } : 'none'),
      file ?? (profile && profilesFile(process.env)),
    ),
  )
}

/** A convenience for the command line; the daemon runs without it. */
async function rememberProfile(ready: Ready, store: string): Promise<KeyPlace | undefined> {
  try {
    return await writeProfile(ready, process.env, store)
  } catch (error) {
    warn(`the profile for natter could not be written: ${(error as Error).message}`)
    return undefined
  }
}

function stopOnSignals(daemon: Daemon, onFailure: (error: Error) => void): void {
  let stopping = false
  const stop = () => {
    if (stopping) return
    stopping = true
    daemon.stop().then(
      () => {
        if (isatty(2)) process.stderr.write('natter has stopped\n')
        process.exit(0)
      },
      error => giveUp(error),
    )
  }
  // Errors outside of every world, in the listener for example.
  process.once('uncaughtException', error => {
    process.on('uncaughtException', () => {})
    warn(`unexpected failure: ${error.stack}`)
    onFailure(new Defect(error))
  })
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
  const hadTerminal = isatty(0)
  // The terminal is gone, or the operator wants the files read again. A shell passes the signal on a moment before its terminal goes.
  process.on('SIGHUP', () => {
    if (!hadTerminal) daemon.reload()
    else setTimeout(() => (isatty(0) ? daemon.reload() : stop()), hangUpTime)
  })
  // Compacts the store now.
  process.on('SIGUSR2', () => daemon.world.engine.compact().catch(error => warn(`compaction failed: ${error.message}`)))
}

/** Milliseconds. */
const hangUpTime = 500

/** The disk refuses writes, or the state is in doubt. Answered changes are safe; others must not be shown to any client. */
function describeFailure(error: Error): string {
  if (error instanceof ReplicaFailed)
    return `natterd: ${error.message}.\nIt leaves its cluster and stops; the other daemons go on.\n`
  if (error instanceof Defect)
    return (
      `natterd: a defect ended the organization (${error.message}). Everything answered so far is on disk.\n` +
      'The log has the details. Start natterd again: it continues after the last durable entry.\n'
    )
  if (error instanceof StoreGone)
    return (
      `natterd: ${error.message}. It stops, because nothing that it wrote now would be kept.\n` +
      'Put the folder back, or choose another with --data, then start natterd again.\n'
    )
  return (
    `natterd: the store cannot be written (${error.message}). Everything answered so far is on disk.\n` +
    'Free some space or repair the disk, then start natterd again: it continues after the last durable entry.\n'
  )
}

/** Ends with 1; by a signal if a file operation hangs: `process.exit` waits for all of them. */
function endProcess(tries = 10): void {
  if (!process.getActiveResourcesInfo().some(name => name.startsWith('FSReq'))) process.exit(1)
  if (tries === 0) process.kill(process.pid, 'SIGKILL')
  setTimeout(endProcess, 100, tries - 1)
}

/** A sentence, never a stack trace. */
function giveUp(error: unknown): void {
  const { code, message, address, port } = error as NodeJS.ErrnoException & { address?: string; port?: number }
  if (error instanceof UsageError) warn(`${message}\nSee natterd --help.`)
  else if (code === 'EADDRINUSE') warn(`port ${port} on ${address} is in use; choose another with --port, or --port 0`)
  else if (code === 'EADDRNOTAVAIL')
    warn(`this machine does not have the address ${address}; choose another with --host`)
  else if (code === 'EACCES' && port)
    warn(`port ${port} is reserved on this machine; choose one above 1023 with --port`)
  else warn(message)
  process.exitCode = error instanceof UsageError ? 2 : 1
}

void main(process.argv.slice(2))
