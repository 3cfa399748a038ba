// Other versions of Node, from npm: what runs on the Node of this run alone is found out too late.

import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './sources.ts'

/** The newest of a major version. Kept in node_modules. Undefined where it cannot be had. */
export function nodeOf(major: number): string | undefined {
  if (process.versions.node.startsWith(`${major}.`)) return process.execPath
  const folder = join(root, `node_modules/.cache/natter-nodes/${major}`)
  const file = join(folder, 'node_modules/node/bin', process.platform === 'win32' ? 'node.exe' : 'node')
  try {
    if (!existsSync(file))
      execFileSync('npm', ['install', '--prefix', folder, '--no-save', '--no-audit', '--no-fund', `node@${major}`], {
        stdio: 'ignore',
        timeout: 120_000,
      })
    execFileSync(file, ['--version'], { stdio: 'ignore' })
    return file
  } catch {
    return undefined
  }
}
