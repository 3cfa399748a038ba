// A cluster of three daemons over three members of etcd, all on this machine, against one daemon.

import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type EtcdCluster, startEtcd, withoutEtcd } from '../../support/etcd.ts'
import { freePort } from '../../support/free-port.ts'
import { until } from '../../support/until.ts'
import { type LoadResult, run } from '../load.ts'
import { authorization, freshFolder, type Server, startDaemon } from '../processes.ts'
import { alternate, type Effort, NotInstalled, quantile, type Row, type Sample } from '../row.ts'

const connections = 64
const queues = 9000

export const cluster: readonly Row[] = [
  {
    name: `send through the log in etcd, ${connections} connections`,
    reference: 'the same daemon on its file journal',
    goal: { atLeast: 0.4 },
    unit: 'requests/s',
    measure: sending,
  },
  {
    name: 'p99 from the answer of a send to its event at a follower',
    reference: 'p99 of one commit, a send at the leader over one connection',
    goal: { atMost: 1 },
    unit: 'ms',
    measure: telling,
  },
  {
    name: `one message to ${queues} parked queues at three daemons`,
    reference: `one daemon telling ${queues}`,
    goal: { atLeast: 1 },
    unit: 'events/s',
    fullOnly: 'it takes long',
    measure: fanOut,
  },
]

interface Cluster {
  /** The leader comes first. */
  readonly daemons: readonly Server[]
  stop(): Promise<void>
}

async function startCluster(size: number, flags: readonly string[] = []): Promise<Cluster> {
  if (withoutEtcd) throw new NotInstalled(withoutEtcd)
  const etcd: EtcdCluster = await startEtcd(3)
  const secretFile = join(freshFolder(), 'secret')
  writeFileSync(secretFile, 'the secret of the cluster that is measured', { mode: 0o600 })
  const daemons: Server[] = []
  // A leader that is busy with 9,000 polls on a loaded machine must not be replaced while it is measured.
  const joined = ['--cluster', etcd.urls.join(','), '--secret-file', secretFile, '--cluster-lease', '20']
  for (let i = 0; i < size; i++) {
    const own = ['--data', freshFolder(), '--no-profile', '--port', String(await freePort())]
    daemons.push(await startDaemon([...own, ...joined, ...flags]))
  }
  for (const { ready } of daemons) await until(async () => (await fetch(`${ready.url}/readyz`)).status === 200)
  return {
    daemons,
    async stop() {
      await Promise.all(daemons.map(daemon => daemon.stop()))
      await etcd.stop()
    },
  }
}

function messageFrom({ ready }: Server): string {
  const to = JSON.stringify([ready.owner.user_id])
  return new URLSearchParams({ type: 'direct', to, content: 'Good morning, everyone' }).toString()
}

function headersOf({ ready }: Server): Record<string, string> {
  return { Authorization: authorization(ready), 'Content-Type': 'application/x-www-form-urlencoded' }
}

async function sending(effort: Effort): Promise<Sample[]> {
  const { daemons, stop } = await startCluster(3)
  const single = await startDaemon(['--data', freshFolder(), '--no-profile'])
  const ask = (server: Server): Promise<LoadResult> =>
    run({
      method: 'POST',
      url: `${server.ready.url}/api/v1/messages`,
      headers: headersOf(server),
      body: messageFrom(server),
      connections,
      seconds: effort.rounds(2, 1),
    })
  await ask(daemons[0]!)
  await ask(single)
  const samples = await alternate(
    effort.rounds(7, 3),
    () => ask(daemons[0]!),
    () => ask(single),
  )
  await single.stop()
  await stop()
  return samples.map(({ ours, reference }) => ({ ours: ours.perSecond, reference: reference.perSecond }))
}

async function telling(effort: Effort): Promise<Sample[]> {
  const { daemons, stop } = await startCluster(2)
  const [leader, follower] = daemons as [Server, Server]
  const samples: Sample[] = []
  for (let round = 0; round < effort.rounds(5, 2); round++)
    samples.push(await tell(leader, follower, effort.rounds(300, 100)))
  await stop()
  return samples
}

async function tell(leader: Server, follower: Server, sends: number): Promise<Sample> {
  const headers = headersOf(leader)
  const post = (url: string, body: string) =>
    fetch(url, { method: 'POST', headers, body }).then(answer => answer.json())
  const registration = new URLSearchParams({ event_types: '["message"]', fetch_event_types: '[]' }).toString()
  const { queue_id } = (await post(`${follower.ready.url}/api/v1/register`, registration)) as { queue_id: string }
  const delays: number[] = []
  const commits: number[] = []
  let last = -1
  for (let i = 0; i < sends; i++) {
    const poll = fetch(`${follower.ready.url}/api/v1/events?queue_id=${queue_id}&last_event_id=${last}`, { headers })
      .then(answer => answer.json() as Promise<{ events: { id: number }[] }>)
      .then(({ events }) => {
        last = events.at(-1)!.id
        return performance.now()
      })
    const began = performance.now()
    await post(`${leader.ready.url}/api/v1/messages`, messageFrom(leader))
    const answered = performance.now()
    commits.push(answered - began)
    delays.push(Math.max(0, (await poll) - answered))
  }
  return { ours: quantile(delays, 0.99), reference: quantile(commits, 0.99) }
}

async function fanOut(): Promise<Sample[]> {
  const flags = ['--max-queues', String(queues)]
  const askCluster = async () => {
    const { daemons, stop } = await startCluster(3, flags)
    return park(daemons).finally(stop)
  }
  const askSingle = async () => {
    const single = await startDaemon(['--data', freshFolder(), '--no-profile', ...flags])
    return park([single]).finally(() => single.stop())
  }
  return alternate(2, askCluster, askSingle)
}

/** Events that arrive per second; every queue must get every one. */
async function park(daemons: readonly Server[]): Promise<number> {
  const [first] = daemons as [Server]
  const headers = { Authorization: authorization(first.ready) }
  const body = new URLSearchParams({ event_types: '["message"]', fetch_event_types: '[]' }).toString()
  const polls: string[] = []
  for (let i = 0; i < queues; i += 50) {
    const some = Array.from({ length: 50 }, async () => {
      const answer = await fetch(`${first.ready.url}/api/v1/register`, {
        method: 'POST',
        headers: headersOf(first),
        body,
      })
      const { queue_id } = (await answer.json()) as { queue_id: string }
      return `/api/v1/events?queue_id=${queue_id}&last_event_id=LAST`
    })
    polls.push(...(await Promise.all(some)))
  }
  const urls = daemons.map(({ ready }) => ready.url)
  const trigger = { path: '/api/v1/messages', body: messageFrom(first) }
  const task = { url: urls[0], urls, polls, headers, trigger, rounds: 5 }
  const child = spawn(process.execPath, [join(import.meta.dirname, '../fan-out-client.cjs'), '-'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  child.stdin.write(`${JSON.stringify(task)}\n`)
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  await lines.next()
  child.stdin.write('go\n')
  const { value } = await lines.next()
  if (value === undefined) throw new Error('a poll was refused, or its connection ended; the answer is above')
  return queues / (quantile(JSON.parse(value).times, 0.5) / 1000)
}
