// Event queues: what a new one is registered with, and the error for one that the caller does not have.

import { type Capability, capabilities } from '../../api/capabilities.ts'
import type { ParamsOf } from '../../api/define.ts'
import { knownEventTypes } from '../../api/event-types.ts'
import type { events as api } from '../../api/events.ts'
import { limits } from '../limits.ts'
import type { QueueRegistration } from '../model/rows/queues.ts'
import { queueNarrow } from '../narrow/queue-terms.ts'
import { invalid, Refusal } from '../refusal.ts'
import type { Context } from '../resource.ts'
import { check, hearPublicChannels } from '../rules/index.ts'

type Wanted = ParamsOf<typeof api.register> | ParamsOf<typeof api.get>

/** `owned` is how many queues the caller has together with their bots (a bot with its owner), `most` how many they may have. */
export function planQueue(
  ctx: Context,
  params: Wanted,
  { owned, most }: { readonly owned: number; readonly most: number },
): Omit<QueueRegistration, 'id'> {
  if (owned >= most)
    throw new Refusal(`An account and its bots can have ${most} event queues. Delete one, or wait until one expires.`, {
      kind: 'conflict',
    })
  if (params.all_public_streams) check(hearPublicChannels, ctx)
  const lifespan = idleTimeout(params) || params.queue_lifespan_secs || limits.queueLifespanSeconds
  return {
    userId: ctx.actor.id,
    // OPEN: what happens to a type that does not exist is not shown; it is accepted and dropped, as clients expect.
    eventTypes: params.event_types ? knownEventTypes(params.event_types) : null,
    capabilities: readCapabilities(ctx, params.client_capabilities),
    lifespan: Math.min(lifespan, limits.queueLifespanMaxSeconds) * 1000,
    narrow: params.narrow.length > 0 ? queueNarrow(params.narrow) : defaultNarrow(ctx),
    allPublicStreams: params.all_public_streams ?? ctx.actor.bot?.defaults?.allPublic ?? false,
    applyMarkdown: params.apply_markdown,
    clientGravatar: params.client_gravatar,
    slimPresence: params.slim_presence,
    includeSubscribers: params.include_subscribers,
    clientName: ctx.client,
    dialect: ctx.dialect ?? 'spec',
    level: ctx.server.level.number,
  }
}

/** A bot that was set up for one channel gets the events of that channel, unless it asks for others. */
function defaultNarrow({ state, actor }: Context): QueueRegistration['narrow'] {
  const id = actor.bot?.defaults?.eventsChannelId ?? null
  const channel = id === null ? undefined : state.channels.get(id)
  return channel ? [['stream', channel.name]] : []
}

/** What newer clients ask for, in seconds. */
function idleTimeout(params: Wanted): number | undefined {
  const given = 'idle_queue_timeout' in params ? params.idle_queue_timeout : undefined
  return given === 'mobile' ? limits.queueLifespanMobileSeconds : given
}

/** Names that this level does not know are ignored: newer clients declare more. */
function readCapabilities({ dialect, server }: Context, given?: Readonly<Record<string, unknown>>): Capability[] {
  if (!given) return []
  const names = Object.keys(capabilities) as Capability[]
  for (const name of names) {
    const isGiven = Object.hasOwn(given, name)
    if (isGiven && typeof given[name] !== 'boolean')
      throw invalid('client_capabilities', `${name} must be true or false`)
    if (!isGiven && dialect === 'zulip' && 'requiredByPublicServers' in capabilities[name])
      throw invalid('client_capabilities', `must include ${name}`)
  }
  return names.filter(name => given[name] === true && server.level.has(capabilities[name]))
}

/** The same for another user's queue, an expired one and one that never existed. */
export function missingQueue(queueId: string): Refusal {
  // The public server uses these words, and old clients match them.
  return new Refusal(`Bad event queue ID: ${queueId}`, {
    code: 'BAD_EVENT_QUEUE_ID',
    parameter: 'queue_id',
    fields: { queue_id: queueId },
  })
}
