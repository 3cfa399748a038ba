// The cost of asking for many people, and for groups in groups.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freshFolder, referencePath, request, startServer } from '../processes.ts'
import { alternate, type Effort, type Row, type Sample } from '../row.ts'
import { filled, type Store } from '../store.ts'

export const people: readonly Row[] = [
  {
    name: 'GET /users with 10,000 users',
    reference: 'bare fastify sending the same bytes',
    goal: { atLeast: 0.5 },
    unit: 'requests/s',
    measure: listing,
  },
  {
    name: 'membership through 1,000 nested groups',
    reference: 'in a group that has the user itself',
    goal: { atMost: 1.5 },
    unit: 'ms',
    measure: belonging,
  },
]

async function listing(effort: Effort): Promise<Sample[]> {
  const store = await filled(effort, { subscribers: 10_000, messages: 0, topics: 1 })
  const url = `${store.server.ready.url}/api/v1/users`
  store.server.resume()
  const answer = await fetch(url, { headers: store.headers })
  const file = join(freshFolder(), 'users.json')
  writeFileSync(file, Buffer.from(await answer.arrayBuffer()))
  const theirs = await startServer([referencePath('fastify-file'), file])
  const perSecond = (url: string, headers = {}) => {
    const some = effort.rounds(20, 8)
    return async () => 1000 / (await timed(some, () => request(url, headers)))
  }
  const [ours, reference] = [perSecond(url, store.headers), perSecond(`${theirs.ready.url}/file`)]
  await ours()
  await reference()
  const samples = await alternate(effort.rounds(15, 5), ours, reference)
  await theirs.stop()
  await store.server.stop()
  return samples
}

async function belonging(effort: Effort): Promise<Sample[]> {
  const store = await filled(effort, { subscribers: 10, messages: 0, topics: 1, nested: 1000 })
  store.server.resume()
  const { user_groups } = await asked(store, '/user_groups')
  const idOf = (name: string) => user_groups.find(group => group.name === name)!.id
  const ask = (name: string) => {
    const path = `/user_groups/${idOf(name)}/members/${store.server.ready.owner.user_id}`
    return async () => {
      const { is_user_group_member } = await asked(store, path)
      if (!is_user_group_member) throw new Error(`the owner is not in '${name}'`)
    }
  }
  const many = effort.rounds(200, 50)
  const [outermost, innermost] = [ask('nested 1000'), ask('nested 1')]
  await timed(many, outermost)
  await timed(many, innermost)
  const samples = await alternate(
    effort.rounds(15, 5),
    () => timed(many, outermost),
    () => timed(many, innermost),
  )
  await store.server.stop()
  return samples
}

interface Answer {
  readonly user_groups: readonly { readonly id: number; readonly name: string }[]
  readonly is_user_group_member: boolean
}

async function asked({ server, headers }: Store, path: string): Promise<Answer> {
  const answer = await fetch(`${server.ready.url}/api/v1${path}`, { headers })
  return (await answer.json()) as Answer
}

/** Milliseconds for one, of `count` in a row. */
async function timed(count: number, work: () => Promise<void>): Promise<number> {
  const began = performance.now()
  for (let i = 0; i < count; i++) await work()
  return (performance.now() - began) / count
}
