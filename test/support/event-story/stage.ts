// The people and places of the story.

import { channels } from '../../../daemon/api/channels/channels.ts'
import { subscriptions } from '../../../daemon/api/channels/subscriptions.ts'
import type { TestDaemon } from '../daemon.ts'
import { fetched, person } from '../world.ts'
import { at, people } from './row.ts'

export async function setStage(daemon: TestDaemon): Promise<void> {
  people.o = daemon.owner
  people.a = await person(daemon, 'amy')
  people.b = await person(daemon, 'bob')
  people.g = await person(daemon, 'gus', { role: 600 })
  const principals = [people.o.id, people.a.id]
  await people.o.call(subscriptions.subscribe, {
    subscriptions: [{ name: 'garden' }],
    principals: [...principals, people.g.id],
  })
  await people.o.call(subscriptions.subscribe, { subscriptions: [{ name: 'vault' }], invite_only: true, principals })
  for (const stream of ['garden', 'vault']) at[stream] = (await people.o.call(channels.id, { stream })).stream_id
  const { realm_user_groups } = await fetched(people.o, ['realm_user_groups'])
  for (const { name, id } of realm_user_groups) at[name] = id
}
