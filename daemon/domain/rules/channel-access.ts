// Channels by ID, if the caller may use them.

import type { Channel } from '../model/state.ts'
import { missing } from '../refusal.ts'
import type { Context } from '../resource.ts'
import type { Asker, Rule } from './rule.ts'

/**
 * The channel, if the rule lets the asker at it.
 * OPEN: the public server refuses some hidden channels and files in other words than absent ones (BAD_REQUEST, 403); here both get the same
 * answer, so that no one can find out what exists.
 */
function channelFor(asker: Asker, id: number, rule: Rule<Channel>, parameter: string): Channel {
  const channel = asker.state.channels.get(id)
  if (!channel || !rule.allows(asker, channel)) throw missing(parameter, 'channel', id)
  return channel
}

/** The same for what can be read of archived channels too, from a level on. */
export function readableChannelFor(asker: Asker & Pick<Context, 'server'>, id: number, rule: Rule<Channel>): Channel {
  const { archivedChannelsReadable } = asker.server.level.rules
  return archivedChannelsReadable ? channelFor(asker, id, rule, 'stream_id') : liveChannelFor(asker, id, rule)
}

/** The same for what archived channels no longer take part in. */
export function liveChannelFor(asker: Asker, id: number, rule: Rule<Channel>, parameter = 'stream_id'): Channel {
  const channel = channelFor(asker, id, rule, parameter)
  if (channel.archived) throw missing(parameter, 'channel', id)
  return channel
}
