// Starts that must fail well.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { host, launch } from './daemon.ts'
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

/**
 * The same in the process that daemons share, with code 1, which takes a tenth of the time: for tests of the reason. How the
 * process ends does not depend on it.
 */
export async function givesUpBeside(data: string, words: RegExp, ...flags: readonly string[]): Promise<string> {
  const started = await host(data, { flags }).catch((error: Error) => error)
  if (!(started instanceof Error)) {
    await started.discard()
    assert.fail('natterd started')
  }
  assert.match(started.message, /^natterd ended with 1: /)
  assert.match(started.message, words)
  assertPlain(started.message)
  return started.message
}

export function assertPlain(text: string): void {
  assert.doesNotMatch(text, /\n {4}at |node:internal|Error:/)
}

/** The same without blocking this process, for a daemon that calls something in it. Returns what natterd says. */
export async function refusedStart(data: string, flags: readonly string[], env = {}): Promise<string> {
  const started = await launch(data, { flags, env }).catch((error: Error) => error)
  if (!(started instanceof Error)) {
    await started.kill()
    assert.fail('natterd started')
  }
  const [, code, said] = /^natterd ended with (\w+): (.*)$/s.exec(started.message)!
  assert.ok(code === '1' || code === '2', started.message)
  assertPlain(said!)
  return said!
}

/** Why it does not start, in the process that daemons share: for tests that are not about its output and its exit code. */
export async function refusal(data: string, flags: readonly string[]): Promise<string> {
  const started = await host(data, { flags }).catch((error: Error) => error)
  if (started instanceof Error) return started.message
  await started.end()
  assert.fail('natterd started')
}
