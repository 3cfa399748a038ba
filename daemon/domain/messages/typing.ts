// Typing notifications: signals only. The server keeps no typing state.

import type { ParamsOf } from '../../api/define.ts'
import { typing as api } from '../../api/messages/typing.ts'
import { limits } from '../limits.ts'
import { listSubscribers, subscriberCount } from '../model/lookups.ts'
import { userSetting } from '../model/settings.ts'
import type { State, User } from '../model/state.ts'
import { presentAuthor } from '../people/users/present.ts'
import { conflict, missing, needed } from '../refusal.ts'
import { type Announcement, type Context, resource } from '../resource.ts'
import { splitByAccess } from '../rules/audiences.ts'
import { liveChannelFor } from '../rules/channel-access.ts'
import * as may from '../rules/index.ts'
import { knownUser } from '../rules/user-access.ts'
import { isNoTopic, topicMeant, topicShown } from '../values/topic-names.ts'
import { checkRecipients } from './messages/direct-recipients.ts'

type Params = ParamsOf<typeof api.set>

export const typing = resource(api)<never>({
  commands: {
    set: (ctx, params) => ({
      signals: params.type === 'direct' ? direct(ctx, params) : inChannel(ctx, params),
      reply: {},
    }),
  },
  apply: {},
  announce: {},
})

function direct(ctx: Context, { op, to }: Params): Announcement[] {
  if (!to || to.length === 0) throw needed('to', 'for a direct message: at least one recipient')
  checkRecipients(to)
  if (!userSetting(ctx.actor, 'send_private_typing_notifications'))
    throw conflict('type', 'your settings turn off typing notifications in direct messages')
  const { state, actor } = ctx
  const named = to.map((id, index) => person(ctx, id, index))
  const people = [...new Map([actor, ...named].map(user => [user.id, user])).values()]
  people.sort((a, b) => a.id - b.id)
  const shown = (see: (user: User) => object) => ({ sender: see(actor), recipients: people.map(see) })
  const asSeenBy = (reader: User) =>
    shown(user => presentPerson(state, user, !may.accessUser.allows({ state, actor: reader }, user)))
  const event = { type: 'typing', op, message_type: 'direct' }
  const listening = people.filter(receives)
  // Only guests may not know some of the people. All others get the same event, which has every recipient in it.
  return [
    {
      to: listening.filter(user => !may.isGuest(user)).map(user => user.id),
      event: { ...event, ...shown(user => presentPerson(state, user, false)) },
    },
    { to: listening.filter(may.isGuest).map(user => user.id), event, personal: id => asSeenBy(state.users.get(id)!) },
  ]
}

function inChannel(ctx: Context, { op, stream_id, topic }: Params): Announcement[] {
  if (stream_id === undefined) throw needed('stream_id', 'for a channel')
  if (topic === undefined) throw needed('topic', 'for a channel')
  if (!userSetting(ctx.actor, 'send_stream_typing_notifications'))
    throw conflict('type', 'your settings turn off typing notifications in channels')
  const channel = liveChannelFor(ctx, stream_id, may.seeContent)
  may.check(may.post, ctx, channel)
  if (subscriberCount(ctx.state, channel.id) > limits.typingAudience) return []
  const name = isNoTopic(topic) ? '' : topicMeant(topic)
  const event =
    (isStranger: boolean): Announcement['event'] =>
    client =>
      client.channelTyping
        ? {
            type: 'typing',
            op,
            message_type: 'stream',
            sender: presentPerson(ctx.state, ctx.actor, isStranger),
            stream_id: channel.id,
            topic: topicShown(name, client.emptyTopic),
          }
        : null
  const listening = listSubscribers(ctx.state, channel.id).filter(id => receives(ctx.state.users.get(id)!))
  const { known, strangers } = splitByAccess(ctx.state, ctx.actor, listening)
  return [{ to: known, event: event(false) }, ...(strangers.length > 0 ? [{ to: strangers, event: event(true) }] : [])]
}

function receives(user: User): boolean {
  return user.active && userSetting(user, 'receives_typing_notifications')
}

function person(ctx: Context, id: number, index: number): User {
  const user = knownUser(ctx, id)
  if (!user) throw missing(`to[${index}]`, 'user', id)
  return user
}

function presentPerson(state: State, user: User, isStranger: boolean) {
  return { user_id: user.id, email: presentAuthor(state, user, false, isStranger).email }
}
