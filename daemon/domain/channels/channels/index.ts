// Channels: created, read, changed, archived; never deleted.

import { channels as api } from '../../../api/channels/channels.ts'
import type { ParamsOf } from '../../../api/define.ts'
import type { AnnouncingSetting, ChannelFact } from '../../model/facts/channels.ts'
import { channelByName, listSubscribers, systemBot } from '../../model/lookups.ts'
import { organizationSetting } from '../../model/settings.ts'
import type { Channel, State } from '../../model/state.ts'
import { checkMeetings } from '../../people/users/access.ts'
import { conflict, invalid, missing } from '../../refusal.ts'
import { type Context, resource } from '../../resource.ts'
import { liveChannelFor, readableChannelFor } from '../../rules/channel-access.ts'
import * as may from '../../rules/index.ts'
import { enrolment, withoutRepeats } from '../subscriptions/subscribe.ts'
import { activityNews, applyActivity, noticeQuiet } from './activity.ts'
import { announceArchived, announceCreated, announceUnarchived, announceUpdated } from './announce.ts'
import { checkDescription, checkDescriptionRoom, checkName } from './checks.ts'
import { blueprint, checkCreation, creationNotices } from './create.ts'
import { byName, listKnownChannels, presentChannel } from './present.ts'
import { archiveNotice, channelToChange, nameTaken, updateFacts } from './update.ts'

const pointing = [
  'new_stream_announcements_stream_id',
  'signup_announcements_stream_id',
  'svc_update_announcements_stream_id',
  'moderation_request_channel_id',
] as const satisfies readonly AnnouncingSetting[]

export const channels = resource(api)<ChannelFact>({
  commands: {
    list: (ctx, params) => ({ reply: { streams: listChannels(ctx, params) } }),

    show: (ctx, { stream_id }) => ({
      reply: {
        stream: presentChannel(
          ctx.state,
          readableChannelFor(ctx, stream_id, may.seeMetadata),
          ctx.server.level,
          ctx.now,
        ),
      },
    }),

    id(ctx, { stream }) {
      const channel = channelByName(ctx.state, stream)
      if (!channel || channel.archived || !may.seeContent.allows(ctx, channel))
        throw missing('stream', 'channel', stream)
      return { reply: { stream_id: channel.id } }
    },

    create(ctx, params) {
      may.check(may.subscribe, ctx)
      const plan = blueprint(ctx, params)
      const name = checkName('name', params.name)
      const description = checkDescription('description', params.description ?? '')
      if (channelByName(ctx.state, name)) throw nameTaken('name', name)
      checkCreation(ctx, plan, 1)
      checkDescriptionRoom(ctx, 'description', [description])
      const channel: Channel = { id: ctx.state.channels.nextId, name, description, ...plan }
      const people = withoutRepeats(ctx, 'subscribers', params.subscribers)
      checkMeetings(ctx.state, [channel], people, 'subscribers')
      const { fact } = enrolment(ctx.state, [{ channel, people }])
      const tell = (params.send_new_subscription_messages ?? true) && people.length > 0 && people.length <= 100
      return {
        facts: [
          { type: 'channel.created', channel },
          ...(fact ? [fact] : []),
          ...(tell ? creationNotices(ctx, [channel], params.announce ?? false) : []),
        ],
        reply: { id: channel.id },
      }
    },

    update: (ctx, params) => ({ facts: updateFacts(ctx, params), reply: {} }),

    archive(ctx, { stream_id }) {
      const channel = channelToChange(ctx, stream_id, may.archiveChannel)
      if (channel.archived) throw conflict('stream_id', 'the channel is already archived')
      const groups = [...ctx.state.defaultChannelGroups.values()].filter(group => group.channelIds.includes(channel.id))
      return {
        facts: [
          {
            type: 'channel.archived',
            channelId: channel.id,
            wasDefault: channel.isDefault,
            groupIds: groups.map(group => group.id),
            announcing: pointing.filter(name => organizationSetting(ctx.state, name) === channel.id),
          },
          ...archiveNotice(ctx, channel, 'archived'),
        ],
        reply: {},
      }
    },

    members: (ctx, { stream_id }) => ({
      reply: { subscribers: listSubscribers(ctx.state, readableChannelFor(ctx, stream_id, may.seeMetadata).id) },
    }),

    email(ctx, { stream_id, sender_id }) {
      const channel = liveChannelFor(ctx, stream_id, may.seeContent)
      if (ctx.server.level.rules.channelAddressForPosters) may.check(may.post, ctx, channel)
      const sender = ctx.state.users.get(sender_id ?? ctx.actor.id)
      const isYours =
        sender?.id === ctx.actor.id || (sender?.bot?.system === false && may.administerBot.allows(ctx, sender))
      if (!isYours && (!sender || sender !== systemBot(ctx.state, 'emailgateway')))
        throw invalid('sender_id', 'must be your own ID or the ID of a bot that you can administer')
      // OPEN: there is no mail gateway, so the address is empty, as the API says for that case.
      return { reply: { email: '' } }
    },
  },

  apply: {
    'channel.created': (state, { channel }) => state.channels.put(channel),
    'channel.updated'(state, { channelId, settings, permissions }) {
      const old = state.channels.get(channelId)!
      state.channels.put({ ...old, ...settings, permissions: { ...old.permissions, ...permissions } })
    },
    'channel.archived'(state, { channelId, groupIds, announcing }) {
      state.channels.put({ ...state.channels.get(channelId)!, archived: true, isDefault: false })
      for (const id of groupIds) {
        const group = state.defaultChannelGroups.get(id)!
        state.defaultChannelGroups.put({ ...group, channelIds: group.channelIds.filter(other => other !== channelId) })
      }
      const settings = { ...state.organization.settings }
      for (const name of announcing) delete settings[name]
      if (announcing.length > 0) state.organization = { ...state.organization, settings }
    },
    'channel.unarchived': (state, { channelId }) =>
      state.channels.put({ ...state.channels.get(channelId)!, archived: false }),
    'channel.activity-changed': applyActivity,
  },

  announce: {
    'channel.created': announceCreated,
    'channel.updated': announceUpdated,
    'channel.archived': announceArchived,
    'channel.unarchived': announceUnarchived,
    'channel.activity-changed': (state, { quiet, woken }) =>
      [...quiet, ...woken].map(id => activityNews(state, state.channels.get(id)!)),
  },

  sections: {
    stream: (ctx, client) => ({
      streams: listKnownChannels(ctx)
        .filter(channel => !channel.archived || client.archivedChannels)
        .map(channel => presentChannel(ctx.state, channel, client.level, ctx.now)),
    }),
  },
  jobs: [noticeQuiet],
})

function listChannels(ctx: Context, params: ParamsOf<typeof api.list>) {
  const found = [...ctx.state.channels.values()]
    .filter(channel => !(params.exclude_archived && channel.archived) && isWanted(ctx, params, channel))
    .sort(byName)
  return found.map(channel => ({
    ...presentChannel(ctx.state, channel, ctx.server.level, ctx.now),
    ...(params.include_default && { is_default: channel.isDefault }),
  }))
}

function isWanted(ctx: Context, params: ParamsOf<typeof api.list>, channel: Channel): boolean {
  if (params.include_all || params.include_all_active) return may.seeMetadata.allows(ctx, channel)
  if (params.include_owner_subscribed && isSubscribed(ctx.state, channel, ctx.actor.bot?.ownerId)) return true
  // What is public, web-public or subscribed to is among it.
  if (params.include_can_access_content) return may.seeContent.allows(ctx, channel)
  return (
    (params.include_public && !channel.inviteOnly && may.hearPublicChannels.allows(ctx)) ||
    (params.include_web_public && channel.webPublic) ||
    (params.include_subscribed && isSubscribed(ctx.state, channel, ctx.actor.id))
  )
}

function isSubscribed(state: State, channel: Channel, userId: number | null | undefined): boolean {
  return typeof userId === 'number' && state.subscriptions.isActive(channel.id, userId)
}
