// Load from a process of its own, the same for every server.

import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'

export interface Load {
  readonly url: string
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly connections: number
  readonly seconds: number
  /** Milliseconds between an answer and the next request; none unless said. */
  readonly rest?: number
  /** Of the latencies, to be reported. */
  readonly quantiles?: readonly number[]
}

export interface LoadResult {
  readonly answers: number
  readonly perSecond: number
  /** Milliseconds. */
  readonly p50: number
  readonly p99: number
  readonly longest: number
  readonly quantiles: readonly number[]
}

const client = join(import.meta.dirname, 'load-client.cjs')

export async function run(load: Load): Promise<LoadResult> {
  const { stdout } = await promisify(execFile)(process.execPath, [client, JSON.stringify(load)])
  return JSON.parse(stdout)
}
