// Default channels and groups of them, as those see them who are offered any.

import { defaultChannels } from '../../model/lookups.ts'
import type { State, User } from '../../model/state.ts'
import type { Announcement } from '../../resource.ts'
import { nonGuests } from '../../rules/audiences.ts'
import { beOfferedDefaults } from '../../rules/index.ts'

/** As the user sees them, or as everyone does who is offered any. */
export function presentDefaults(state: State, user?: User): number[] {
  if (user && !beOfferedDefaults.allows({ state, actor: user })) return []
  return defaultChannels(state).map(channel => channel.id)
}

export function presentDefaultGroups(state: State, user?: User) {
  if (user && !beOfferedDefaults.allows({ state, actor: user })) return []
  return [...state.defaultChannelGroups.values()].sort(byName).map(({ id, name, description, channelIds }) => ({
    id,
    name,
    description,
    streams: channelIds
      .map(channelId => state.channels.get(channelId)!)
      .sort(byName)
      .map(channel => channel.id),
  }))
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : 1
}

export function defaultsAnnouncement(state: State): Announcement {
  return { to: nonGuests(state), event: { type: 'default_streams', default_streams: presentDefaults(state) } }
}

export function groupsAnnouncement(state: State): Announcement {
  return {
    to: nonGuests(state),
    event: { type: 'default_stream_groups', default_stream_groups: presentDefaultGroups(state) },
  }
}
