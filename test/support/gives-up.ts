// Starts that must fail well.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { host, launch, type TestDaemon } from './daemon.ts'
import { root } from './sources.ts'

/** Starts natterd and expects it to give up: with this code, in one or two sentences, never with a stack trace. */
export function givesUp(
  flags: readonly string[],
  code: number,
  words: RegExp,
  env: Readonly<Record<string, string>> = {},
): string {
  const args = [join(root, 'bin/natterd'), '--port', '0', '--no-profile', ...flags]
  const run = spawnSync(process.execPath, args, { encoding: 'utf8', timeout: 180_000, env: { ...process.env, ...env } })
  assert.equal(run.status, code, `${run.signal} ${run.stderr}`)
  assert.match(run.stderr, words)
  assertPlain(run.stderr)
  assert.equal(run.stdout, '')
  return run.stderr
}

/** Starts natterd without blocking this process, for a daemon that calls something in it. Returns what natterd says. */
export function refusedStart(data: string, flags: readonly string[], env = {}): Promise<string> {
  return reason(launch(data, { flags, env }))
}

/**
 * The same in the process that daemons share, which takes a tenth of the time: for tests of the reason. How the process ends
 * does not depend on it.
 */
export function refusal(data: string, flags: readonly string[] = []): Promise<string> {
  return reason(host(data, { flags }))
}

async function reason(start: Promise<TestDaemon>): Promise<string> {
  const started = await start.catch((error: Error) => error)
  if (!(started instanceof Error)) {
    await started.discard()
    assert.fail('natterd started')
  }
  const [, said] = /^natterd ended with [12]: (.*)$/s.exec(started.message)!
  assertPlain(said!)
  return said!
}

export function assertPlain(text: string): void {
  assert.doesNotMatch(text, /\n {4}at |node:internal|Error:/)
}
