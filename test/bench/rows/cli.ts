// Cold start of the command line, against a node that does nothing; and of `natter mcp`, against `natter --version`.

import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { environment, freshFolder, root, startDaemon, timeCommand } from '../processes.ts'
import { alternate, type Effort, type Row } from '../row.ts'

const natter = join(root, 'bin/natter')

function nothing(): Promise<number> {
  return timeCommand(['-e', '0'])
}

export const cli: readonly Row[] = [
  {
    name: 'natter --help',
    reference: 'node -e 0',
    goal: { atMost: 1.2 },
    unit: 'ms',
    measure: effort => compare(effort, () => timeCommand([natter, '--help'])),
  },
  {
    name: 'natter users me, daemon running',
    reference: 'node -e 0',
    goal: { atMost: 1.4 },
    unit: 'ms',
    async measure(effort) {
      const env = { NATTER_CONFIG_DIR: freshFolder() }
      const daemon = await startDaemon(['--data', freshFolder()], env)
      const samples = await compare(effort, () => timeCommand([natter, 'users', 'me'], env))
      await daemon.stop()
      return samples
    },
  },
  {
    name: 'natter mcp, from spawn to the list of tools',
    reference: 'natter --version',
    goal: { atMost: 3 },
    unit: 'ms',
    async measure(effort) {
      // The first start writes its code cache when it ends.
      await timeTools()
      return alternate(effort.rounds(20, 7), timeTools, () => timeCommand([natter, '--version']))
    },
  },
]

/** What a client sends before it can call a tool. No server is asked for it. */
const opening = [
  {
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'bench', version: '1' } },
  },
  { method: 'notifications/initialized' },
  { id: 2, method: 'tools/list' },
].map(frame => `${JSON.stringify({ jsonrpc: '2.0', ...frame })}\n`)

function timeTools(): Promise<number> {
  const account = { NATTER_SITE: 'http://127.0.0.1:9', NATTER_EMAIL: 'a@example.com', NATTER_API_KEY: 'key' }
  return new Promise((resolve, reject) => {
    const began = performance.now()
    const child = spawn(process.execPath, [natter, 'mcp'], { env: { ...environment, ...account } })
    let output = ''
    child.once('error', reject)
    let took: number | undefined
    child.once('exit', () => {
      if (took === undefined) reject(new Error(`natter mcp ended without a list of tools: ${output}`))
      else resolve(took)
    })
    child.stdout.setEncoding('utf8').on('data', text => {
      output += text
      if (!/"id":2\b.*\n/.test(output)) return
      took ??= performance.now() - began
      child.stdin.end()
    })
    child.stdin.write(opening.join(''))
  })
}

async function compare(effort: Effort, ours: () => Promise<number>) {
  await Promise.all([ours(), nothing()])
  return alternate(effort.rounds(20, 7), ours, nothing)
}
