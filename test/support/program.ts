// Small programs that a test runs in a process of their own, usually to kill it.

import { type ChildProcess, spawn } from 'node:child_process'
import { build } from 'esbuild'
import { forNode } from '../bundle.ts'
import { root } from './sources.ts'

/** Bundles a module in TypeScript that imports by paths from the root of the tree. Compiling it at each start takes longer. */
export async function bundleProgram(source: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: source, resolveDir: root, loader: 'ts' },
    absWorkingDir: root,
    ...forNode,
    write: false,
  })
  return outputFiles[0]!.text
}

/** Its arguments begin at `process.argv[1]`. */
export function spawnProgram(program: string, ...args: readonly string[]): ChildProcess {
  return spawn(process.execPath, ['--input-type=module', '-e', program, ...args], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}
