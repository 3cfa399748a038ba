// Starts natterd as a process of its own: the bundle where there is one, the sources in development.

import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Ending } from '../../../base/failure.ts'
import { assetReader, packageRoot } from '../../../base/version.ts'

export function spawnDaemon(
  args: readonly string[],
  options: { stdio: StdioOptions; detached?: boolean },
): ChildProcess {
  return spawn(process.execPath, [...daemonCommand(), ...args], options)
}

/** Passes signals on, unless the terminal sends them to the child itself, and exits with the exit code of the child. */
export async function runInForeground(args: readonly string[]): Promise<never> {
  const child = spawnDaemon(args, { stdio: 'inherit' })
  process.removeAllListeners('SIGINT')
  process.on('SIGINT', () => {})
  process.on('SIGTERM', () => child.kill('SIGTERM'))
  const code = await new Promise<number>((resolve, reject) => {
    child.on('error', reject)
    child.on('exit', (exit, signal) => resolve(exit ?? (signal === 'SIGINT' ? 130 : 1)))
  })
  throw new Ending(code)
}

function daemonCommand(): string[] {
  // The single executable is both natter and natterd.
  if (assetReader()) return ['daemon', 'run']
  const root = packageRoot()
  const launcher = join(root, 'bin', 'natterd')
  const bundled = existsSync(join(root, 'dist', 'natterd.cjs')) && existsSync(launcher)
  const sources = join(root, 'daemon', 'main.ts')
  // Developers who run the sources of the command line want the sources of the daemon too.
  if (bundled && !(process.argv[1]?.endsWith('.ts') && existsSync(sources))) return [launcher]
  const loader = createRequire(join(root, 'package.json')).resolve('tsx')
  return ['--import', pathToFileURL(loader).href, sources]
}
