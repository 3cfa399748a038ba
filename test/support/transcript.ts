// Transcripts: command lines that begin with `$ `, what they print, and `[3]` for an exit code other than 0. `…` matches
// anything within a line.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { exitOf, type Shell } from './cli.ts'

export interface Step {
  readonly command: string
  readonly expected: readonly string[]
}

function stepsIn(transcript: string): Step[] {
  const steps: { command: string; expected: string[] }[] = []
  for (const line of transcript.trimEnd().split('\n')) {
    if (line.startsWith('$ ')) steps.push({ command: line.slice(2), expected: [] })
    else if (line.startsWith('> ')) steps.at(-1)!.command += `\n${line.slice(2)}`
    else if (!line.startsWith('#')) steps.at(-1)?.expected.push(line)
  }
  return steps
}

/** Runs a script as a person's shell would, with `natter` on the path. stdout and stderr come together. */
export async function runScript(shell: Shell, script: string): Promise<{ output: string; code: number | null }> {
  const bin = join(shell.home, 'bin')
  mkdirSync(bin, { recursive: true })
  try {
    symlinkSync(join(import.meta.dirname, '../../bin/natter'), join(bin, 'natter'))
  } catch {
    // It already exists.
  }
  const env = { PATH: `${bin}:${process.env.PATH}`, HOME: shell.home, TZ: 'UTC', LANG: 'C.UTF-8', ...shell.env }
  const child = spawn('sh', ['-e', '-c', `exec 2>&1\n${script}`], { cwd: shell.home, env })
  let output = ''
  child.stdin.end()
  child.stdout.setEncoding('utf8').on('data', text => {
    output += text
  })
  const code = await exitOf(child)
  return { output, code }
}

export async function follow(shell: Shell, transcript: string): Promise<void> {
  for (const { command, expected } of stepsIn(transcript)) {
    const { output, code } = await runScript(shell, command)
    const lines = output.trimEnd().split('\n')
    const all = [...(output === '' ? [] : lines), ...(code === 0 ? [] : [`[${code}]`])]
    assertLines(all, expected, command)
  }
}

export function assertLines(actual: readonly string[], expected: readonly string[], what: string): void {
  const fits =
    actual.length === expected.length && expected.every((line, index) => pattern(line).test(actual[index]!.trimEnd()))
  if (!fits) assert.deepEqual(actual, expected, what)
}

function pattern(line: string): RegExp {
  const parts = line.split('…').map(part => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${parts.join('.*')}$`)
}
