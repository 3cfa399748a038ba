// The memory that a daemon keeps, garbage excluded.

import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { TestDaemon } from './daemon.ts'
import { until } from './until.ts'

/** The environment of a daemon that reports its memory into this file. */
export function reportingHeap(file: string): Record<string, string> {
  const hook = pathToFileURL(join(import.meta.dirname, 'reporting-heap.mjs'))
  return { NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --import ${hook}`, NATTER_TEST_HEAP: file }
}

export async function megabytesKept({ process }: TestDaemon, file: string): Promise<number> {
  rmSync(file, { force: true })
  process.kill('SIGWINCH')
  await until(() => existsSync(file))
  return Number(readFileSync(file, 'utf8')) / 1024 / 1024
}
