// From spawn to the first answered request, and what the process then weighs.

import { setTimeout as sleep } from 'node:timers/promises'
import {
  authorization,
  freshFolder,
  referencePath,
  request,
  type Server,
  startDaemon,
  startServer,
} from '../processes.ts'
import { alternate, type Effort, once, type Row, type Sample } from '../row.ts'

interface Start {
  readonly ms: number
  readonly kib: number
}

const onDisk = once(effort => measure(effort, () => ['--data', freshFolder()]))
const inMemory = once(effort => measure(effort, () => ['--memory']))

export const start: readonly Row[] = [...rows('empty store', onDisk, 1.65), ...rows('--memory', inMemory, 1.45)]

function rows(kind: string, starts: typeof onDisk, atMost: number): Row[] {
  const read = (what: keyof Start) => async (effort: Effort) =>
    (await starts(effort)).map(({ ours, reference }): Sample => ({ ours: ours[what], reference: reference[what] }))
  const reference = 'bare node:http server'
  return [
    { name: `natterd start, ${kind}`, reference, goal: { atMost }, unit: 'ms', measure: read('ms') },
    { name: `natterd RSS after start, ${kind}`, reference, goal: { atMost: 1.4 }, unit: 'KiB', measure: read('kib') },
  ]
}

function measure(effort: Effort, flags: () => string[]) {
  return alternate(
    effort.rounds(15, 5),
    () =>
      starting(
        () => startDaemon(['--no-profile', ...flags()]),
        ({ ready }) => request(`${ready.url}/api/v1/users/me`, { Authorization: authorization(ready) }),
      ),
    () =>
      starting(
        () => startServer([referencePath('bare-http')]),
        ({ ready }) => request(ready.url),
      ),
  )
}

async function starting(spawn: () => Promise<Server>, ask: (server: Server) => Promise<void>): Promise<Start> {
  const began = performance.now()
  const server = await spawn()
  await ask(server)
  const ms = performance.now() - began
  await sleep(500)
  const kib = await server.residentSize()
  await server.stop()
  return { ms, kib }
}
