// The common parts of every run of `natter` in a test, in a process of its own or not: its surroundings, its outcome, and
// whether the bundle is at least as new as the sources.

import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '../..')

export const bundleFile = join(root, 'dist/natter.cjs')

export interface Outcome {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface Surroundings {
  readonly env?: Readonly<Record<string, string>>
  readonly input?: string | Buffer
  readonly cwd?: string
  /** Gets what is printed on stdout, as it comes; for runs in the process of the test. */
  readonly onPrint?: (text: string) => void
}

/** The environment without anything that natter, a terminal or the test runner reads. */
export const bareEnv = Object.fromEntries(
  Object.entries(process.env).filter(
    ([name]) => !/^(NATTER|ZULIP|XDG|NO_COLOR|FORCE_COLOR|NODE_TEST|npm_command$)/.test(name),
  ),
) as Readonly<Record<string, string>>

export const isBundleFresh = isAsNewAs(bundleFile, ['cli', 'daemon/api'])

/** Whether a bundle is there and no file in these folders is newer. */
export function isAsNewAs(bundle: string, folders: readonly string[]): boolean {
  const built = statSync(bundle, { throwIfNoEntry: false })
  if (!built) return false
  return folders.every(folder =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).every(
      name => statSync(join(root, folder, name)).mtimeMs <= built.mtimeMs,
    ),
  )
}
