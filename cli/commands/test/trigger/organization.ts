// Kinds of events about channels and the organization.

import { channelFolders } from '../../../../daemon/api/channels/channel-folders.ts'
import { channels } from '../../../../daemon/api/channels/channels.ts'
import { defaultChannels } from '../../../../daemon/api/channels/default-channels.ts'
import { subscriptions } from '../../../../daemon/api/channels/subscriptions.ts'
import { topics } from '../../../../daemon/api/channels/topics.ts'
import { emoji } from '../../../../daemon/api/organization/emoji.ts'
import { dataExports } from '../../../../daemon/api/organization/exports.ts'
import { linkifiers } from '../../../../daemon/api/organization/linkifiers.ts'
import { organization } from '../../../../daemon/api/organization/organization.ts'
import { playgrounds } from '../../../../daemon/api/organization/playgrounds.ts'
import { picture } from './picture.ts'
import type { Stage } from './stage.ts'
import { idsFor, type Triggers, trigger, unique } from './trigger.ts'

const myChannel = async (stage: Stage) => (await stage.newChannel('me', 'owner')).stream_id
const sharedChannel = async (stage: Stage) => (await stage.channel()).stream_id
const topic = unique('topic')

const folder = (stage: Stage) =>
  stage.made('owner', channelFolders.create, { name: stage.name('folder') }, 'channel_folder_id')

const domain = async (stage: Stage) => {
  const name = `${stage.name('domain')}.example`
  await stage.call('owner', organization.addDomain, { domain: name, allow_subdomains: false })
  return name
}

/** A channel that the new colleague sees, who is created first. */
const visibleChannel = async (stage: Stage) => {
  await stage.person('newcomer')
  return (await stage.newChannel('owner')).stream_id
}

export const aboutOrganization: Triggers = {
  'stream/create': trigger('the owner creates a channel with you', 'owner', channels.create, {
    name: unique('channel'),
    subscribers: idsFor('me'),
  }),
  'stream/update': trigger('the owner describes a channel of yours', 'owner', channels.update, {
    stream_id: myChannel,
    description: unique('description'),
  }),
  'stream/delete': trigger(
    'a channel becomes private, and a new colleague no longer sees it',
    'owner',
    channels.update,
    { stream_id: visibleChannel, is_private: true },
    { to: 'newcomer' },
  ),
  'subscription/add': trigger('the owner subscribes you to a channel', 'owner', subscriptions.subscribe, {
    subscriptions: (stage: Stage) => [{ name: stage.name('channel') }],
    principals: idsFor('me'),
  }),
  'subscription/remove': trigger('the owner unsubscribes you', 'owner', subscriptions.unsubscribe, {
    subscriptions: async (stage: Stage) => [(await stage.newChannel('me', 'owner')).name],
    principals: idsFor('me'),
  }),
  'subscription/update': trigger('you mute a channel', 'me', subscriptions.property, {
    stream_id: myChannel,
    property: 'is_muted',
    value: true,
  }),
  'subscription/peer_add': trigger('another user joins a channel of yours', 'owner', subscriptions.subscribe, {
    subscriptions: async (stage: Stage) => [{ name: (await stage.newChannel('me', 'owner')).name }],
    principals: idsFor('newcomer'),
  }),
  'subscription/peer_remove': trigger('another user leaves a channel of yours', 'owner', subscriptions.unsubscribe, {
    subscriptions: async (stage: Stage) => [(await stage.newChannel('me', 'owner', 'newcomer')).name],
    principals: idsFor('newcomer'),
  }),
  user_topic: trigger('you follow a topic', 'me', topics.follow, {
    stream_id: sharedChannel,
    topic,
    visibility_policy: 3,
  }),
  muted_topics: trigger('you mute a topic', 'me', topics.follow, {
    stream_id: sharedChannel,
    topic,
    visibility_policy: 1,
  }),
  default_streams: trigger('the owner makes a channel a default', 'owner', defaultChannels.add, {
    stream_id: myChannel,
  }),
  default_stream_groups: trigger('the owner groups default channels', 'owner', defaultChannels.createGroup, {
    group_name: unique('group'),
    description: 'Made by natter trigger',
    stream_names: [],
  }),
  'channel_folder/add': trigger('the owner creates a channel folder', 'owner', channelFolders.create, {
    name: unique('folder'),
  }),
  'channel_folder/update': trigger('the owner describes a channel folder', 'owner', channelFolders.edit, {
    channel_folder_id: folder,
    description: unique('description'),
  }),
  'realm/update': trigger('the owner turns previews of links on', 'owner', organization.update, {
    inline_url_embed_preview: async (stage: Stage) => {
      await stage.call('owner', organization.update, { inline_url_embed_preview: false })
      return true
    },
  }),
  'realm/update_dict': trigger('the owner allows editing again', 'owner', organization.update, {
    allow_message_editing: async (stage: Stage) => {
      await stage.call('owner', organization.update, { allow_message_editing: false })
      return true
    },
  }),
  'realm_emoji/update': trigger(
    'the owner adds an emoji; for clients without individual_emoji_changes',
    'owner',
    emoji.upload,
    { emoji_name: unique('emoji'), file: picture },
    { older: true },
  ),
  realm_linkifiers: trigger('the owner adds a linkifier', 'owner', linkifiers.add, {
    pattern: (stage: Stage) => `${stage.name('issue')}-(?P<id>[0-9]+)`,
    url_template: 'https://example.com/{id}',
  }),
  realm_playgrounds: trigger('the owner adds a playground', 'owner', playgrounds.add, {
    name: unique('playground'),
    pygments_language: 'c',
    url_template: 'https://example.com/{code}',
  }),
  'realm_domains/add': trigger('the owner allows an email domain', 'owner', organization.addDomain, {
    domain: (stage: Stage) => `${stage.name('domain')}.example`,
    allow_subdomains: false,
  }),
  'realm_domains/change': trigger('the owner allows its subdomains', 'owner', organization.changeDomain, {
    domain,
    allow_subdomains: true,
  }),
  'realm_domains/remove': trigger('the owner removes an email domain', 'owner', organization.removeDomain, { domain }),
  realm_export: trigger('the owner starts an export', 'owner', dataExports.create, {}, { to: 'owner' }),
}
