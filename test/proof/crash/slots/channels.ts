// Slots of channels, and of who is in them.

import { channelFolders } from '../../../../daemon/api/channels/channel-folders.ts'
import { channels } from '../../../../daemon/api/channels/channels.ts'
import { defaultChannels } from '../../../../daemon/api/channels/default-channels.ts'
import { subscriptions } from '../../../../daemon/api/channels/subscriptions.ts'
import { topics } from '../../../../daemon/api/channels/topics.ts'
import type { Place } from '../place.ts'
import { by, call, channelOf, everyChannel, growing, looksUp, order, type Slot, text, toggle } from './slot.ts'

export function channelSlots({ channel, attic, cellar, dan }: Place): readonly Slot[] {
  return [
    text(
      'channel',
      n => call(channels.update, { stream_id: channel, description: n }),
      w => channelOf(w, channel).description,
    ),
    text(
      'color',
      n => call(subscriptions.property, { stream_id: channel, property: 'color', value: `#${n.padStart(6, '0')}` }),
      w => String(Number(channelOf(w, channel).color.slice(1))),
    ),
    text(
      'channel folder',
      n => call(channelFolders.edit, { channel_folder_id: 1, description: n }),
      w => by(w.channel_folders, 1).description,
    ),
    text(
      'default channel group',
      n => call(defaultChannels.editGroup, { group_id: 1, new_description: n }),
      w => by(w.realm_default_stream_groups, 1).description,
    ),
    toggle(
      'topic',
      yes => call(topics.follow, { stream_id: channel, topic: 'tools', visibility_policy: yes ? 3 : 0 }),
      w => w.user_topics.some(({ topic_name }: any) => topic_name === 'tools'),
    ),
    toggle(
      'default channel',
      yes => call(yes ? defaultChannels.add : defaultChannels.remove, { stream_id: channel }),
      w => w.realm_default_streams.includes(channel),
    ),
    toggle(
      'archived channel',
      yes =>
        yes
          ? call(channels.archive, { stream_id: attic })
          : call(channels.update, { stream_id: attic, is_archived: false }),
      w => channelOf(w, attic).is_archived,
    ),
    toggle(
      'private channel',
      yes => call(channels.update, { stream_id: cellar, is_private: yes }),
      w => channelOf(w, cellar).invite_only,
    ),
    growing(
      'new channel',
      n => call(channels.create, { name: `new ${n}`, subscribers: [] }),
      w => everyChannel(w).filter(({ name }) => name.startsWith('new ')).length,
    ),
    toggle(
      'subscriber',
      yes =>
        yes
          ? call(subscriptions.subscribe, { subscriptions: [{ name: 'shed' }], principals: [dan] })
          : call(subscriptions.unsubscribe, { subscriptions: ['shed'], principals: [dan] }),
      w => channelOf(w, channel).subscribers.includes(dan),
    ),
    growing(
      'new channel folder',
      n => call(channelFolders.create, { name: `new ${n}`, description: '' }),
      w => w.channel_folders.length - 2,
    ),
    order(
      'order of channel folders',
      order => call(channelFolders.reorder, { order }),
      w => [...w.channel_folders].sort((a, b) => a.order - b.order).map(({ id }) => id),
    ),
    looksUp(
      'second default channel group',
      (yes, w) =>
        yes
          ? call(defaultChannels.createGroup, { group_name: 'second', description: '', stream_names: ['loft'] })
          : call(defaultChannels.deleteGroup, { group_id: w.realm_default_stream_groups[1].id }),
      w => w.realm_default_stream_groups.length === 2,
    ),
  ]
}
