// Clients that others wrote, unmodified, against a daemon: zulip-js always, the Python client where python3 finds its
// package. They run in their tests, which are the short form.

import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { type Campaign, Failure } from './campaign.ts'

const folder = join(import.meta.dirname, '../client')
const files = ['public-clients.test.ts', 'recorded-clients.test.ts', 'spaces.test.ts']

export const campaign: Campaign = {
  about:
    'clients that others wrote: zulip-js, and the Python client where python3 has it, call what they offer, and are played again from recordings',
  unit: 'rounds',
  long: 5,
  short: 1,
  async run({ count, seed, deadline = Number.POSITIVE_INFINITY, note = () => {}, progress = () => {} }) {
    const skipped = new Set<string>()
    let passed = 0
    let done = 0
    for (; done < count && performance.now() < deadline; done++) {
      for (const file of files) {
        const { code, output } = await runTests(file)
        const count = Number(/^# pass (\d+)$/m.exec(output)?.[1] ?? 0)
        if (code !== 0 || count === 0) throw new Failure(seed, `${file} ended with ${code}:\n${output}`)
        passed += count
        for (const [, name, reason] of output.matchAll(/^\s*ok \d+ - (.+?) # SKIP(.*)$/gm))
          skipped.add(`${name} (${reason!.trim()})`)
      }
      progress(done + 1)
      note(`${done + 1} rounds, ${passed} tests passed`)
    }
    return { done, summary: `${passed} tests of clients passed`, skipped: [...skipped] }
  },
}

async function runTests(file: string): Promise<{ code: number | null; output: string }> {
  const args = ['--import', 'tsx', '--test-reporter=tap', join(folder, file)]
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'], env })
  const ended = new Promise<number | null>(resolve => child.once('close', resolve))
  return { output: await text(child.stdout!), code: await ended }
}
