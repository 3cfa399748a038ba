// A daemon with any number of accounts, for traffic. Seeded accounts have no password, which would cost a hash for each.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { organization } from '../../../daemon/api/organization/organization.ts'
import { keys } from '../../../daemon/api/people/keys.ts'
import type { Seed } from '../../../daemon/seed/format.ts'
import { Caller, launch, type TestDaemon } from '../../support/daemon.ts'
import { reportingHeap } from '../../support/heap.ts'
import { allAtOnce } from './pace.ts'

export interface Crowd {
  readonly daemon: TestDaemon
  readonly callers: readonly Caller[]
  /** Where the daemon reports its memory. */
  readonly heapFile: string
}

/** Flags of a daemon that begins with this. */
export function foundedWith(file: string, seed: Seed): string[] {
  writeFileSync(file, JSON.stringify(seed))
  return ['--seed', file, '--dev-auth']
}

/** A caller for an account of the seed. */
export async function seeded(daemon: TestDaemon, name: string): Promise<Caller> {
  const email = `${name}@example.com`
  const { api_key, user_id } = await daemon.anonymous.call(keys.devFetch, { username: email })
  return new Caller(daemon.url, email, api_key, user_id, daemon.ready.level)
}

/** On a slow machine a message is soon too old to be changed. */
export async function withoutTimeLimits(owner: Caller): Promise<void> {
  const limits = ['message_content_edit_limit_seconds', 'message_content_delete_limit_seconds']
  for (const limit of limits) await owner.call(organization.update, { [limit]: 'unlimited' })
}

/** Stops the daemon afterwards, which holds its journal against its state, and leaves nothing behind. */
export async function withCrowd<T>(accounts: number, work: (crowd: Crowd) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'natter-crowd-'))
  const heapFile = join(folder, 'heap')
  const seed = join(folder, 'seed.json')
  const names = Array.from({ length: accounts }, (_, index) => `person${index}`)
  const flags = [
    ...foundedWith(seed, { users: names.map(name => ({ name })) }),
    '--no-rate-limit',
    '--receive-timeout',
    '600',
  ]
  const daemon = await launch(join(folder, 'data'), { flags, env: reportingHeap(heapFile) })
  try {
    await withoutTimeLimits(daemon.owner)
    const callers = await allAtOnce(names, name => seeded(daemon, name))
    const result = await work({ daemon, callers, heapFile })
    await daemon.stop()
    return result
  } finally {
    daemon.process.kill('SIGKILL')
    await daemon.closed
    rmSync(folder, { recursive: true, force: true })
  }
}
