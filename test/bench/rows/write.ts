// The cost of a durable write: a write that is authenticated, checked and on disk before it is answered, against
// a server that does none of this.

import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { realDisk, sync, writeAt } from '../../../daemon/local/durable-files.ts'
import { type Load, type LoadResult, run } from '../load.ts'
import { authorization, freshFolder, referencePath, type Server, startDaemon, startServer } from '../processes.ts'
import { alternate, type Effort, once, type Row, type Sample } from '../row.ts'

const connections = 64
/** The same status again is written again, so that a run of any length is the same work. */
const path = '/api/v1/users/me/status'
const body = new URLSearchParams({
  status_text: 'In meetings all morning and online this afternoon',
  emoji_name: 'hammer',
}).toString()

const posts = once(measure)
const reference = 'bare fastify form POST, nothing stored'

export const write: readonly Row[] = [
  {
    name: `durable form POST, ${connections} connections`,
    reference,
    goal: { atLeast: 1 },
    unit: 'requests/s',
    measure: read('perSecond'),
  },
  {
    name: `durable form POST, ${connections} connections, p99`,
    reference,
    goal: { atMost: 1.2 },
    unit: 'ms',
    measure: read('p99'),
  },
  {
    name: 'durable form POST, one at a time, p50',
    reference: 'the same bytes written over others in a file, and a sync',
    goal: { atMost: 1.5 },
    unit: 'ms',
    measure: measureOne,
  },
]

function read(what: Exclude<keyof LoadResult, 'quantiles'>) {
  return async (effort: Effort): Promise<Sample[]> =>
    (await posts(effort)).map(({ ours, reference }) => ({ ours: ours[what], reference: reference[what] }))
}

async function measure(effort: Effort) {
  const ours = await startDaemon(['--data', freshFolder(), '--no-profile'])
  const theirs = await startServer([referencePath('fastify-form')])
  ours.pause()
  theirs.pause()
  const headers = { Authorization: authorization(ours.ready), 'Content-Type': 'application/x-www-form-urlencoded' }
  const load = { method: 'POST', headers, body, connections, seconds: effort.rounds(2, 1) }
  const askOurs = () => alone(ours, { ...load, url: `${ours.ready.url}${path}` })
  const askTheirs = () => alone(theirs, { ...load, url: `${theirs.ready.url}/form` })
  // Code that runs hot is what is compared: the first round only warms up.
  await askTheirs()
  await askOurs()
  const samples = await alternate(effort.rounds(9, 3), askOurs, askTheirs)
  await ours.stop()
  await theirs.stop()
  return samples
}

async function measureOne(effort: Effort): Promise<Sample[]> {
  const server = await startDaemon(['--data', freshFolder(), '--no-profile'])
  server.pause()
  const headers = { Authorization: authorization(server.ready), 'Content-Type': 'application/x-www-form-urlencoded' }
  const load = { url: `${server.ready.url}${path}`, method: 'POST', headers, body, connections: 1 }
  const ask = async () => (await alone(server, { ...load, seconds: effort.rounds(2, 1) })).p50
  await ask()
  const samples = await alternate(effort.rounds(9, 3), ask, overwrite)
  await server.stop()
  return samples
}

/** Bytes of the entry of one such POST. */
const entryBytes = 300
const overwrites = 2000

/** Milliseconds of a write and a sync, the median of many. */
async function overwrite(): Promise<number> {
  const fd = openSync(join(freshFolder(), 'file'), 'w')
  writeSync(fd, Buffer.alloc(overwrites * entryBytes))
  fsyncSync(fd)
  const entry = Buffer.alloc(entryBytes, 'x')
  const times: number[] = []
  for (let i = 0; i < overwrites; i++) {
    const began = performance.now()
    await writeAt(fd, entry, i * entryBytes, entryBytes, realDisk)
    await sync(fd)
    times.push(performance.now() - began)
  }
  closeSync(fd)
  return times.sort((a, b) => a - b)[overwrites / 2]!
}

/** Lets nothing but this server run: work the other has left over must not be paid for here. */
async function alone(server: Server, load: Load): Promise<LoadResult> {
  server.resume()
  try {
    return await run(load)
  } finally {
    server.pause()
  }
}
