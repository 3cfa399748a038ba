// A natterd of a version that does not exist yet: this tree with newer formats of the log and of snapshots.

import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { build, type Plugin } from 'esbuild'
import { root } from './sources.ts'

export const newerVersion = '99.0.0'

/** What is different in it, by file. */
const changes: Readonly<Record<string, readonly [string, string]>> = {
  'daemon/cluster/keys.ts': ['export const logFormat = 2', 'export const logFormat = 3'],
  'daemon/journal/state-file.ts': ['export const stateFormat = 3', 'export const stateFormat = 4'],
}

/** In pieces, because the bundler of the tests replaces the whole words. */
const meta = 'import.meta'

const newer: Plugin = {
  name: 'newer',
  setup(builder) {
    for (const [file, [old, next]] of Object.entries(changes)) {
      const filter = new RegExp(`${file.replace(/[/.]/g, '\\$&')}$`)
      builder.onLoad({ filter }, ({ path }) => {
        const text = readFileSync(path, 'utf8')
        if (!text.includes(old)) throw new Error(`${file} does not say "${old}" any more`)
        return { contents: text.replace(old, next), loader: 'ts' }
      })
    }
  },
}

/** Its path. It is in node_modules, where it finds the packages that it needs. */
export async function buildNewerNatterd(): Promise<{ readonly program: string; remove(): void }> {
  const folder = join(root, 'node_modules/.cache', `natter-newer-${process.pid}`)
  mkdirSync(folder, { recursive: true })
  const program = join(folder, 'natterd.cjs')
  await build({
    absWorkingDir: root,
    entryPoints: ['daemon/main.ts'],
    outfile: program,
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'cjs',
    target: 'node20.19',
    logLevel: 'warning',
    plugins: [newer],
    define: {
      NATTER_VERSION: JSON.stringify(newerVersion),
      [`${meta}.url`]: '"file:///"',
      [`${meta}.dirname`]: '__dirname',
    },
  })
  return { program, remove: () => rmSync(folder, { recursive: true, force: true }) }
}
