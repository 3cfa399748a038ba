// What the notification bot says when messages move or a topic is resolved.

import type { Fact } from '../../facts.ts'
import { messageUrl } from '../../markdown/urls.ts'
import type { MessagesMoved } from '../../model/facts/messages.ts'
import type { Channel } from '../../model/state.ts'
import type { Context } from '../../resource.ts'
import { seconds } from '../../values/time.ts'
import { resolvedPrefix, topicShown } from '../../values/topic-names.ts'
import { deletion } from '../messages/deletion-facts.ts'
import { channelNotice, notificationBot } from './post.ts'
import { silentMention } from './quote.ts'

interface Wanted {
  readonly send_notification_to_old_thread: boolean
  readonly send_notification_to_new_thread: boolean
}

export function breadcrumbs(
  ctx: Context,
  wanted: Wanted,
  { ids, from, to }: MessagesMoved,
  whole: boolean,
  oldChannel: Channel,
  newChannel: Channel,
): Fact[] {
  const who = silentMention(ctx.state, ctx.actor.id)
  const oldPlace = link(oldChannel, from.topic)
  const newPlace = link(newChannel, to.topic)
  const many = `${ids.length} messages`
  const facts: Fact[] = []
  if (wanted.send_notification_to_old_thread && !oldChannel.archived) {
    const what = whole
      ? 'This topic was moved'
      : ids.length === 1
        ? 'A message was moved from this topic'
        : `${many} were moved from this topic`
    facts.push(...channelNotice(ctx, oldChannel, from.topic, `${what} to ${newPlace} by ${who}.`))
  }
  if (wanted.send_notification_to_new_thread) {
    const what = whole
      ? 'This topic was moved here'
      : ids.length === 1
        ? `[A message](${messageUrl(newChannel, to.topic, ids[0]!)}) was moved here`
        : `${many} were moved here`
    facts.push(...channelNotice(ctx, newChannel, to.topic, `${what} from ${oldPlace} by ${who}.`))
  }
  return facts
}

/** Seconds within which undoing takes the notice back instead of adding another. */
const undoable = 60

export function resolvedNotice(ctx: Context, channel: Channel, topic: string, before: string): Fact[] {
  const { messages } = ctx.state
  const ids = messages.inTopic(channel.id, before)
  const last = ids.last
  const bot = notificationBot(ctx.state)
  if (
    last !== 0 &&
    messages.sender(last) === bot.id &&
    seconds(ctx.now) - messages.time(last) <= undoable &&
    / has marked this topic as (un)?resolved\.$/.test(messages.content(last))
  )
    return [{ ...deletion(ctx.state, [last], ctx.actor.id), place: { channelId: channel.id, topic } }]
  const word = topic.startsWith(resolvedPrefix) ? 'resolved' : 'unresolved'
  return channelNotice(
    ctx,
    channel,
    topic,
    `${silentMention(ctx.state, ctx.actor.id)} has marked this topic as ${word}.`,
  )
}

function link(channel: Channel, topic: string): string {
  return `#**${channel.name}>${topicShown(topic, false)}**`
}
