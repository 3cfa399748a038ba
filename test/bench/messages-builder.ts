// Fills a store: people, one channel they follow, and messages in its topics. The daemon that founded it must be stopped.

import { RealClock } from '../../daemon/clock.ts'
import type { Fact } from '../../daemon/domain/facts.ts'
import { roles } from '../../daemon/domain/model/roles.ts'
import type { User } from '../../daemon/domain/model/state.ts'
import { Engine } from '../../daemon/engine.ts'
import { Queues } from '../../daemon/events/queues.ts'
import { FileJournal } from '../../daemon/journal/file-journal.ts'
import { openSnapshots } from '../../daemon/journal/snapshots.ts'
import { channelRow } from '../support/channel-row.ts'
import { channelName, messageOf, type Plan } from './messages-plan.ts'

const together = 1000

async function build({ folder, subscribers, messages, topics, nested = 0 }: Plan): Promise<void> {
  const clock = new RealClock()
  const journal = await FileJournal.open<Fact>({ folder, durability: 'os' })
  const queues = new Queues({
    clock,
    limits: { maxPending: 20_000, maxPendingSize: Number.MAX_SAFE_INTEGER, heartbeatMs: () => 60_000 },
    remove: () => {},
    tick: () => {},
  })
  const engine = new Engine({
    journal,
    snapshots: openSnapshots(folder),
    queues,
    now: () => clock.now(),
    onFailure: error => {
      throw error
    },
    onChange: () => {},
  })
  await engine.boot()
  const { state } = engine
  const owner = [...state.users.values()].find(user => user.role === roles.owner)!
  const people = Array.from({ length: subscribers }, (_, i) => personLike(owner, state.users.nextId + i))
  for (const user of people) state.users.put(user)
  const channel = channelRow(state, state.channels.nextId, { name: channelName })
  state.channels.put(channel)
  const like = [...state.groups.values()][0]!
  for (let i = 0; i < nested; i++) {
    const id = state.groups.nextId
    const inside = i === 0 ? { members: [owner.id], subgroups: [] } : { members: [], subgroups: [id - 1] }
    state.groups.put({ ...like, ...inside, id, name: `nested ${i + 1}`, system: false })
  }
  await engine.record('subscribe', null, [
    {
      type: 'subscription.added',
      after: 0,
      added: [
        {
          channelId: channel.id,
          returning: [],
          fresh: { '#76ce90': [owner, ...people].map(user => user.id) },
          gained: [],
        },
      ],
    } as Fact,
  ])
  const time = Math.floor(clock.now() / 1000)
  const senders = people.length > 0 ? people : [owner]
  for (let i = 0; i < messages; i += together) {
    const facts: Fact[] = []
    for (let n = i; n < Math.min(i + together, messages); n++) {
      const id = state.messages.lastId + 1 + n - i
      const senderId = senders[n % senders.length]!.id
      const message = messageOf(n, { id, senderId, channelId: channel.id, time }, topics)
      facts.push({ type: 'message.sent', message })
    }
    await engine.record('send-message', owner.id, facts)
  }
  await engine.compact()
  await engine.close()
}

function personLike(owner: User, id: number): User {
  return { ...owner, id, email: `user${id}@example.com`, fullName: `User ${id}`, role: roles.member }
}

await build(JSON.parse(process.argv[2]!) as Plan)
