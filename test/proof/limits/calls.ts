// Every endpoint of the catalogue, called once with parameters that it accepts, as a member and as the owner.

import type { Endpoint } from '../../../daemon/api/define.ts'
import { events } from '../../../daemon/api/events.ts'
import { endpointAt } from '../../../daemon/api/levels/endpoint-at.ts'
import { defaultLevel } from '../../../daemon/api/levels/releases.ts'
import { messages } from '../../../daemon/api/messages/messages.ts'
import { catalogueEndpoints } from '../../support/catalogue.ts'
import type { Caller } from '../../support/daemon.ts'
import { aboutPeople } from '../../support/event-story/people.ts'
import { aboutOneself } from '../../support/event-story/personal.ts'
import { aboutPlaces } from '../../support/event-story/places.ts'
import { last, rest } from '../../support/event-story/rest.ts'
import { at, people } from '../../support/event-story/row.ts'
import type { Filled } from './fill.ts'

export interface Step {
  readonly by: () => Caller
  readonly endpoint: Endpoint
  readonly params: () => object
  readonly remember?: ((reply: any) => void) | undefined
}

/** All that only reads, `register` included, with as much of an answer as one call can ask for. */
export async function readings(filled: Filled): Promise<Step[]> {
  const { channelId, groupId, messageId, botId, file } = filled
  const [, , realm, ...path] = file.split('/')
  const values: Readonly<Record<string, unknown>> = {
    ...{ user_id: people.a.id, user_id_or_email: people.a.id, email: people.a.email, bot_id: botId },
    ...{ message_id: messageId, msg_ids: [messageId], narrow: [], user_group_id: groupId, meeting_name: 'x' },
    ...{ stream_id: channelId, stream: 'garden', realm_id_str: realm, filename: path.join('/') },
  }
  const all = (await catalogueEndpoints()).map(({ endpoint }) => endpointAt(endpoint, defaultLevel))
  const reading = all.filter(endpoint => endpoint !== undefined).filter(isReading)
  const steps: [Endpoint, object][] = reading.map(endpoint => {
    const needed = Object.entries(endpoint.params).filter(([, { presence }]) => ['path', 'required'].includes(presence))
    return [endpoint, Object.fromEntries(needed.map(([name]) => [name, values[name]]))]
  })
  const page = { anchor: 'newest', num_before: 5000, num_after: 0 }
  steps.push([messages.list, page], [messages.list, { ...page, narrow: [{ operator: 'search', operand: 'hello' }] }])
  steps.push([events.register, { include_subscribers: true }])
  return steps.flatMap(([endpoint, params]) =>
    [people.a, people.o].map(caller => ({ by: () => caller, endpoint, params: () => params })),
  )
}

/** Polls wait; and a page of messages needs a place, see above. */
function isReading({ method, id }: Endpoint): boolean {
  return method === 'GET' && id !== events.get.id && id !== messages.list.id
}

/** All that writes, in an order in which each is accepted; `between` prepares the second part. */
export async function* writings(between: () => Promise<void>): AsyncGenerator<Step> {
  for (const { by, endpoint, params, keep } of [...aboutPeople, ...aboutPlaces, ...aboutOneself])
    yield {
      by: () => people[by],
      endpoint,
      params,
      remember: reply => {
        if (keep) at[keep[0]] = keep[1].split('.').reduce((inner, step) => inner[step], reply)
      },
    }
  await between()
  for (const [by, endpoint, params, remember] of rest) yield { by, endpoint, params, remember }
  for (const [by, endpoint] of last) yield { by, endpoint, params: () => ({}) }
}
