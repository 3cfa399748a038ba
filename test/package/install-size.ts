// npx tsx test/package/install-size.ts: the figures of docs/install.md. Packs the project, installs the tarball in an empty folder with an empty cache,
// and prints sizes and time.

import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { thisMachine } from '../support/machine.ts'

const root = join(import.meta.dirname, '../..')
const scratch = mkdtempSync(join(tmpdir(), 'natter-install-'))
try {
  const packed = npm(root, 'pack', '--ignore-scripts', '--json', '--pack-destination', scratch)
  const [{ filename, size }] = JSON.parse(packed) as [{ filename: string; size: number }]
  const project = mkdtempSync(join(scratch, 'project-'))
  npm(project, 'init', '--yes')
  const began = performance.now()
  npm(project, 'install', join(scratch, filename), '--cache', join(scratch, 'cache'))
  const seconds = (performance.now() - began) / 1000
  const modules = join(project, 'node_modules')
  const own = bytesUnder(join(modules, 'natter'))
  process.stdout.write(
    `tarball    ${megabytes(size)}\n` +
      `installed  ${megabytes(bytesUnder(modules))}, ${packagesIn(modules)} packages; natter itself ${megabytes(own)}\n` +
      `time       ${seconds.toFixed(0)} s with an empty cache, on ${thisMachine()}\n`,
  )
} finally {
  rmSync(scratch, { recursive: true, force: true })
}

function npm(cwd: string, ...args: string[]): string {
  return execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
}

function filesUnder(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name))
}

function bytesUnder(folder: string): number {
  return filesUnder(folder).reduce((sum, file) => sum + statSync(file).size, 0)
}

/** As npm lists them. */
function packagesIn(modules: string): number {
  const { packages } = JSON.parse(readFileSync(join(modules, '.package-lock.json'), 'utf8')) as { packages: object }
  return Object.keys(packages).length
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0)} MB`
}
