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
import { by, idsFor, type Triggers, unique } from './trigger.ts'

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
  'stream/create': by.owner('the owner creates a channel with you', channels.create, {
    name: unique('channel'),
    subscribers: idsFor('me'),
  }),
  'stream/update': by.owner('the owner describes a channel of yours', channels.update, {
    stream_id: myChannel,
    description: unique('description'),
  }),
  'stream/delete': by.owner(
    'a channel becomes private, and a new colleague no longer sees it',
    channels.update,
    { stream_id: visibleChannel, is_private: true },
    { to: 'newcomer' },
  ),
  'subscription/add': by.owner('the owner subscribes you to a channel', subscriptions.subscribe, {
    subscriptions: (stage: Stage) => [{ name: stage.name('channel') }],
    principals: idsFor('me'),
  }),
  'subscription/remove': by.owner('the owner unsubscribes you', subscriptions.unsubscribe, {
    subscriptions: async (stage: Stage) => [(await stage.newChannel('me', 'owner')).name],
    principals: idsFor('me'),
  }),
  'subscription/update': by.me('you mute a channel', subscriptions.property, {
    stream_id: myChannel,
    property: 'is_muted',
    value: true,
  }),
  'subscription/peer_add': by.owner('another user joins a channel of yours', subscriptions.subscribe, {
    subscriptions: async (stage: Stage) => [{ name: (await stage.newChannel('me', 'owner')).name }],
    principals: idsFor('newcomer'),
  }),
  'subscription/peer_remove': by.owner('another user leaves a channel of yours', subscriptions.unsubscribe, {
    subscriptions: async (stage: Stage) => [(await stage.newChannel('me', 'owner', 'newcomer')).name],
    principals: idsFor('newcomer'),
  }),
  user_topic: by.me('you follow a topic', topics.follow, { stream_id: sharedChannel, topic, visibility_policy: 3 }),
  muted_topics: by.me('you mute a topic', topics.follow, { stream_id: sharedChannel, topic, visibility_policy: 1 }),
  default_streams: by.owner('the owner makes a channel a default', defaultChannels.add, { stream_id: myChannel }),
  default_stream_groups: by.owner('the owner groups default channels', defaultChannels.createGroup, {
    group_name: unique('group'),
    description: 'Made by natter trigger',
    stream_names: [],
  }),
  'channel_folder/add': by.owner('the owner creates a channel folder', channelFolders.create, {
    name: unique('folder'),
  }),
  'channel_folder/update': by.owner('the owner describes a channel folder', channelFolders.edit, {
    channel_folder_id: folder,
    description: unique('description'),
  }),
  'realm/update': by.owner('the owner turns previews of links on', organization.update, {
    inline_url_embed_preview: async (stage: Stage) => {
      await stage.call('owner', organization.update, { inline_url_embed_preview: false })
      return true
    },
  }),
  'realm/update_dict': by.owner('the owner allows editing again', organization.update, {
    allow_message_editing: async (stage: Stage) => {
      await stage.call('owner', organization.update, { allow_message_editing: false })
      return true
    },
  }),
  'realm_emoji/update': by.owner(
    'the owner adds an emoji; for clients without individual_emoji_changes',
    emoji.upload,
    { emoji_name: unique('emoji'), file: picture },
    { older: true },
  ),
  realm_linkifiers: by.owner('the owner adds a linkifier', linkifiers.add, {
    pattern: (stage: Stage) => `${stage.name('issue')}-(?P<id>[0-9]+)`,
    url_template: 'https://example.com/{id}',
  }),
  realm_playgrounds: by.owner('the owner adds a playground', playgrounds.add, {
    name: unique('playground'),
    pygments_language: 'c',
    url_template: 'https://example.com/{code}',
  }),
  'realm_domains/add': by.owner('the owner allows an email domain', organization.addDomain, {
    domain: (stage: Stage) => `${stage.name('domain')}.example`,
    allow_subdomains: false,
  }),
  'realm_domains/change': by.owner('the owner allows its subdomains', organization.changeDomain, {
    domain,
    allow_subdomains: true,
  }),
  'realm_domains/remove': by.owner('the owner removes an email domain', organization.removeDomain, { domain }),
  realm_export: by.owner('the owner starts an export', dataExports.create, {}, { to: 'owner' }),
}
