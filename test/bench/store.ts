// A daemon on a store that was filled for it.

import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import type { Plan } from './messages-plan.ts'
import { authorization, freshFolder, root, type Server, startDaemon } from './processes.ts'
import type { Effort } from './row.ts'

export interface Store {
  readonly server: Server
  readonly headers: Record<string, string>
  readonly messages: number
}

/** The daemon is paused: nothing else is to run while another is measured. */
export async function filled(effort: Effort, given: Omit<Plan, 'folder'>): Promise<Store> {
  const plan = {
    ...given,
    folder: freshFolder(),
    messages: effort.quick ? Math.min(given.messages, 100_000) : given.messages,
  }
  const flags = ['--data', plan.folder, '--no-profile']
  const founding = await startDaemon(flags)
  await founding.stop()
  const builder = join(import.meta.dirname, 'messages-builder.ts')
  const { status } = spawnSync(process.execPath, ['--import', 'tsx', builder, JSON.stringify(plan)], {
    cwd: root,
    stdio: ['ignore', 2, 2],
  })
  if (status !== 0) throw new Error('the store could not be filled')
  const server = await startDaemon(flags)
  const headers = { Authorization: authorization(server.ready), 'Content-Type': 'application/x-www-form-urlencoded' }
  server.pause()
  return { server, headers, messages: plan.messages }
}
