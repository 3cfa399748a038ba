// Questions about what happened: why an account received a message or not, and what differs between two snapshots.

import { authorization, type Server, startDaemon } from '../processes.ts'
import { alternate, type Row, type Sample } from '../row.ts'
import { spawned } from './fixture.ts'

const flags = ['--no-profile', '--memory', '--preset', 'dev']
const calls = 200

export const questions: readonly Row[] = [
  {
    name: 'why, preset dev with 200 messages',
    reference: 'GET /messages/{id}',
    goal: { atMost: 20 },
    unit: 'ms',
    async measure(effort): Promise<Sample[]> {
      const server = await startDaemon(flags)
      try {
        const id = await history(server)
        const why = () => time(`${server.ready.url}/control/v1/why?message=${id}&user=amy`, token(server))
        const get = () => time(`${server.ready.url}/api/v1/messages/${id}`, authorization(server.ready))
        // Both are warm before either counts.
        for (const ask of [why, get]) await ask()
        return await alternate(effort.rounds(9, 3), why, get)
      } finally {
        await server.stop()
      }
    },
  },
  {
    name: 'snapshot diff, two worlds of preset dev',
    reference: 'natterd start, --memory --preset dev',
    goal: { atMost: 0.5 },
    unit: 'ms',
    async measure(effort): Promise<Sample[]> {
      const server = await startDaemon(flags)
      try {
        await control(server, 'POST', '/snapshots', { name: 'before' })
        await history(server)
        const diff = async () => {
          const began = performance.now()
          await control(server, 'GET', '/snapshots/diff?from=before')
          return performance.now() - began
        }
        return await alternate(effort.rounds(9, 3), diff, spawned)
      } finally {
        await server.stop()
      }
    },
  },
]

/** Sends messages and changes something between them, so that the past differs from now; returns the ID of the first. */
async function history(server: Server): Promise<number> {
  const headers = { Authorization: authorization(server.ready) }
  const call = async (method: string, path: string, fields: Record<string, string>) => {
    const body = new URLSearchParams(fields)
    const answer = await fetch(`${server.ready.url}/api/v1${path}`, { method, headers, body })
    if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`)
    return (await answer.json()) as { id: number }
  }
  let first = 0
  for (let n = 0; n < calls; n++) {
    const { id } = await call('POST', '/messages', { type: 'stream', to: '"general"', topic: 't', content: `${n}` })
    first ||= id
    if (n % 10 === 0) await call('PATCH', '/streams/1', { description: `${n}` })
  }
  return first
}

/** Milliseconds of one call, over many one after the other. */
async function time(url: string, credentials: string): Promise<number> {
  const began = performance.now()
  for (let n = 0; n < calls; n++) {
    const answer = await fetch(url, { headers: { Authorization: credentials } })
    if (!answer.ok) throw new Error(`${url}: ${await answer.text()}`)
    await answer.text()
  }
  return (performance.now() - began) / calls
}

async function control(server: Server, method: string, path: string, body?: object): Promise<void> {
  const headers = { Authorization: token(server), ...(body && { 'Content-Type': 'application/json' }) }
  const init = { method, headers, ...(body && { body: JSON.stringify(body) }) }
  const answer = await fetch(`${server.ready.url}/control/v1${path}`, init)
  if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`)
  await answer.text()
}

function token({ ready }: Server): string {
  return `Bearer ${ready.control_token}`
}
