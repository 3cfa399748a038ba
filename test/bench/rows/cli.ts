// Cold start of the command line, against a node that does nothing.

import { join } from 'node:path'
import { freshFolder, root, startDaemon, timeCommand } from '../processes.ts'
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
]

async function compare(effort: Effort, ours: () => Promise<number>) {
  await Promise.all([ours(), nothing()])
  return alternate(effort.rounds(20, 7), ours, nothing)
}
