// The package's version and its folder on disk, in the bundle and in development.

import { readFileSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Defined by the bundler. */
declare const NATTER_VERSION: string | undefined

export function version(): string {
  return typeof NATTER_VERSION === 'string' ? NATTER_VERSION : packageAt(packageRoot())!.version
}

/** Reads a file of the package that is part of the single executable; undefined where natter is installed as files. */
export function assetReader(): ((name: string) => Buffer | undefined) | undefined {
  return fromLauncher('natter.asset')
}

interface CodeCaches {
  /** The file that the cache of a running bundle came from, or the folder that is to have it and why it cannot. */
  explain(bundle: string): { readonly file?: string; readonly problem?: string; readonly folder?: string }
}

/** What bin/code-cache.js knows; undefined in the single executable and in development. */
export function codeCaches(): CodeCaches | undefined {
  return fromLauncher('natter.code-cache')
}

/** The files in bin leave it in the global object. */
function fromLauncher(name: string): any {
  return (globalThis as { [key: symbol]: unknown })[Symbol.for(name)]
}

/** The folder of natter's package.json, found from the script that was started: a launcher in bin/ or a source file. */
export function packageRoot(): string {
  let folder = dirname(realpathSync(process.argv[1] ?? '.'))
  while (packageAt(folder)?.name !== 'natter') {
    const parent = dirname(folder)
    if (parent === folder) throw new Error('natter cannot find its own package')
    folder = parent
  }
  return folder
}

function packageAt(folder: string): { name: string; version: string } | undefined {
  try {
    return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  } catch {
    return undefined
  }
}
