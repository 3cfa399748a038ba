// Sending a message.

import type { ParamsOf, ReplyOf } from '../../../api/define.ts'
import type { messages as api } from '../../../api/messages/messages.ts'
import { calledBy } from '../../bots/webhooks/trigger.ts'
import { visibilityAfterMention, visibilityAfterSending } from '../../channels/topics/visibility.ts'
import type { Fact } from '../../facts.ts'
import { attachmentAt, relink } from '../../files/attachments.ts'
import { alertedBy } from '../../markdown/alert-words.ts'
import { type LatestMessage, type Rendered, type RenderPlace, render, topicLinks } from '../../markdown/index.ts'
import { messageUrl } from '../../markdown/urls.ts'
import type { MessageSent } from '../../model/facts/messages.ts'
import { listMuters } from '../../model/lookups.ts'
import { type Details, type Message, marks } from '../../model/message-store/index.ts'
import type { Channel, State, User } from '../../model/state.ts'
import { invalid, needed, Refusal } from '../../refusal.ts'
import type { Context, Outcome, Surroundings } from '../../resource.ts'
import { memberCheck } from '../../rules/group-values.ts'
import * as may from '../../rules/index.ts'
import { seconds } from '../../values/time.ts'
import { emptyTopicDisplayName, isNoTopic, normalizeTopic } from '../../values/topic-names.ts'
import { conversationUrl, escapeLabel } from '../notices/quote.ts'
import { channelTo, checkPosting, messageContent, nextMessageId, openConversation } from './compose.ts'
import { peopleTo } from './direct-recipients.ts'
import { tidy } from './present.ts'
import { checkWidget } from './widget-checks.ts'

/** Programs in which the sender sees what they send. */
const appsForPeople = new Set(
  [
    'website',
    'ios',
    'android',
    'desktop',
    'mobile',
    'terminal',
    'natter',
    'zulipmobile',
    'zulipelectron',
    'zulipterminal',
  ].flatMap(name => [name, `svc${name}`]),
)

export type Target =
  | { readonly channel: Channel; readonly topic: string }
  /** Everyone in the conversation, the sender too, ascending. */
  | { readonly people: readonly number[] }

export function send(ctx: Context, params: ParamsOf<typeof api.send>): Outcome<ReplyOf<typeof api.send>> {
  checkMirroring(ctx, params)
  const content = messageContent(params.content)
  const widget = widgetGiven(params.widget_content)
  const target = resolveTarget(ctx, params)
  const readBySender = params.read_by_sender ?? isAppForPeople(ctx.client)
  const echo =
    params.queue_id !== undefined && params.local_id !== undefined
      ? { queueId: params.queue_id, localId: params.local_id }
      : undefined
  const { facts, sent, policy } = posting(ctx, target, content, { readBySender, echo, widget })
  return {
    facts,
    reply: {
      id: sent.message.id,
      ...(policy && { automatic_new_visibility_policy: policy }),
      ...(ctx.server.level.rules.messageLinksInReply && linksTo(ctx, target, sent.message)),
    },
  }
}

/** Links to a message that is about to be sent. A sender who may not know the channel does not learn its name. */
function linksTo(ctx: Context, target: Target, { id }: Pick<Message, 'id'>) {
  const { url } = ctx.server
  if (!('channel' in target)) {
    const address = `${url}${conversationUrl(target.people, id)}`
    return { message_url: address, message_link: address }
  }
  const { channel, topic } = target
  if (!may.seeMetadata.allows(ctx, channel)) {
    const address = `${url}${messageUrl({ id: channel.id, name: '' }, topic, id)}`
    return { message_url: address, message_link: address }
  }
  const address = `${url}${messageUrl(channel, topic, id)}`
  const label = `#${escapeLabel(channel.name)} > ${escapeLabel(topic || emptyTopicDisplayName)} @ 💬`
  return { message_url: address, message_link: `[${label}](${address})` }
}

/** Programs that copy messages of other networks. */
const mirrors = new Set(['zephyr_mirror', 'irc_mirror', 'jabber_mirror', 'JabberMirror'])

/** No account may send as another one, as on a public server whose operator has given this right to no account. */
function checkMirroring({ client }: Context, { forged, sender }: ParamsOf<typeof api.send>): void {
  // OPEN: no account here may send messages for others. Public servers have such accounts, for bridges to other chat services.
  if (forged === 'yes' || forged === 'true') throw invalid('forged', 'you cannot send messages for others')
  if (mirrors.has(client) && sender === undefined) throw needed('sender', `from ${client}`)
  if (sender !== undefined) throw invalid('sender', 'you cannot send messages for others')
}

export function isAppForPeople(client: string): boolean {
  return appsForPeople.has(client.toLowerCase())
}

/** Where the parameters point, checked: the actor may write there. */
export function resolveTarget(
  ctx: Context,
  { type, to, topic }: { type: string; to?: unknown; topic?: string | undefined },
): Target {
  if (type === 'direct' || type === 'private') return { people: peopleTo(ctx, to) }
  // Before the channel is looked at: a mistake in the topic must not tell a hidden channel from none.
  if (topic === undefined) throw needed('topic', 'for a channel message')
  const name = isNoTopic(topic) ? '' : normalizeTopic(topic)
  const channel = channelTo(ctx, to)
  const target = { channel, topic: name }
  checkPosting(ctx, channel, target.topic, Array.isArray(to) ? to[0] : to)
  return target
}

interface Options {
  readonly readBySender?: boolean
  /** Users beside the sender for whom the message is read at once. */
  readonly readBy?: readonly number[]
  readonly echo?: MessageSent['echo'] | undefined
  readonly widget?: string | undefined
  /** The program that sends it, if not the caller's. */
  readonly client?: string
}

/** The facts of a message by the actor, with all its consequences: sent now, or scheduled and due. */
export function posting(ctx: Context, target: Target, content: string, options: Options = {}) {
  const rendered = composeMessage(ctx, target, content)
  const { facts, policy } = visibilityFacts(ctx, target, rendered)
  const sent = sentFact(ctx, ctx.actor, target, content, rendered, options)
  return { facts: [...relink(ctx, rendered.uploads, sent.message), ...facts, sent], sent, policy }
}

/** Follows or unmutes the topic for the sender and for mentioned users, by their settings. */
function visibilityFacts(ctx: Context, target: Target, { mentions }: Rendered) {
  if (!('channel' in target)) return { facts: [] as readonly Fact[], policy: undefined }
  const { channel, topic } = target
  const isFirst = () => latestVisible(ctx, channel.id, topic) === undefined
  const { facts, policy } = visibilityAfterSending(ctx, channel, topic, isFirst)
  const reached = (id: number) => id !== ctx.actor.id && ctx.state.subscriptions.isActive(channel.id, id)
  const called = visibilityAfterMention(ctx, channel, topic, mentions.userIds.filter(reached))
  return { facts: called.length > 0 ? [...facts, ...called] : facts, policy }
}

/** The text as it is stored, or a refusal when it mentions people whom the actor may not mention. */
export function composeMessage(ctx: Context, target: Target, content: string): Rendered {
  const rendered = render(ctx, content, renderPlace(ctx, target))
  checkMentions(ctx, target, rendered)
  return rendered
}

interface SystemOptions {
  readonly reader?: User | undefined
  readonly readBy?: readonly number[]
  /** Finds the message that a link to a topic leads to; by default the newest one. */
  readonly latestMessage?: LatestMessage | undefined
}

/** The fact of a message by one of the system's own bots, which may say anything anywhere. */
export function sentBySystem(
  ctx: Surroundings,
  bot: User,
  target: Target,
  content: string,
  { reader = bot, readBy = [], latestMessage }: SystemOptions = {},
): MessageSent {
  const author = { state: ctx.state, actor: reader, server: ctx.server }
  const place = renderPlace(author, target)
  // No one could mend what it says, and what it is about must not fail.
  const rendered = render(author, content, latestMessage ? { ...place, latestMessage } : place, 'show-plain')
  // The context itself and no copy of it: it counts the IDs that the command has given out.
  return sentFact(ctx, bot, target, content, rendered, { readBySender: true, readBy, client: 'Internal' })
}

/** Where the text is posted, for the renderer; without a target it is only shown. */
export function renderPlace(asker: may.Asker, target?: Target): RenderPlace {
  const latestMessage = (id: number, topic: string) => latestVisible(asker, id, topic)
  const upload = (path: string) => attachmentAt(asker, path)
  return target && 'channel' in target
    ? { channel: target.channel, topic: target.topic, latestMessage, upload }
    : { latestMessage, upload }
}

/** The newest message of a topic that the asker can see. */
export function latestVisible(
  asker: may.Asker,
  channelId: number,
  topic: string,
  without?: ReadonlySet<number>,
): number | undefined {
  const ids = asker.state.messages.inTopic(channelId, topic)
  const isReadable = may.readTest(asker)
  for (let i = ids.length - 1; i >= 0; i--) if (!without?.has(ids.at(i)) && isReadable(ids.at(i))) return ids.at(i)
  return undefined
}

function sentFact(
  ctx: Surroundings,
  sender: User,
  target: Target,
  content: string,
  rendered: Rendered,
  { readBySender = false, readBy: others = [], echo, widget, client = ctx.client }: Options,
): MessageSent {
  const { state } = ctx
  const conversation = 'people' in target ? openConversation(ctx, target.people) : undefined
  const id = nextMessageId(ctx)
  const details = buildDetails(state, id, sender, target, content, rendered, widget)
  const { html } = rendered
  const senderId = sender.id
  const time = seconds(ctx.now)
  const found = computeMarks(rendered)
  // Assigned field by field: spreading parts was slower than all checks together.
  const message: Mutable<Message> =
    'channel' in target
      ? { id, senderId, channelId: target.channel.id, topic: target.topic, time, client, content, html, marks: found }
      : { id, senderId, conversationId: conversation!.id, time, client, content, html, marks: found }
  if (Object.keys(details).length > 0) message.details = details
  const calls =
    'people' in target
      ? calledBy(ctx, sender, id, target.people, 'direct_message')
      : calledBy(ctx, sender, id, [...rendered.mentions.userIds, ...(details.mentioned ?? [])], 'mention')
  const called = 'channel' in target ? calledBots(state, target.channel, rendered) : []
  const readBy = [...(readBySender ? [sender.id] : []), ...listMuters(state, sender.id), ...others]
  const fact: Mutable<MessageSent> = { type: 'message.sent', message }
  if (conversation?.fresh) fact.conversation = conversation.fresh
  if (readBy.length > 0) fact.readBy = readBy
  if (calls.length > 0) fact.calls = calls
  if (called.length > 0) fact.called = called
  if ('channel' in target && target.channel.quiet) fact.woke = true
  if (echo) fact.echo = echo
  return fact
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

const none: Details = {}

function buildDetails(
  state: State,
  id: number,
  sender: User,
  target: Target,
  content: string,
  rendered: Rendered,
  widget: string | undefined,
): Details {
  const meant = mentionDetails(state, sender, target, content, rendered)
  const links = 'channel' in target ? topicLinks(state, target.topic) : []
  const submessages = buildWidgets(id, sender, widget ?? (rendered.widget && JSON.stringify(rendered.widget)))
  if (meant === noMentions && links.length === 0 && submessages.length === 0) return none
  return tidy({ ...meant, topicLinks: links, submessages })
}

/** Generic bots get every message that mentions them. */
function calledBots(state: State, channel: Channel, { mentions }: Rendered): number[] {
  const isCalled = (id: number) => {
    const user = state.users.get(id)
    return user?.active && user.bot?.type === 1 && !user.bot.system && !state.subscriptions.isActive(channel.id, id)
  }
  return ascending(new Set(mentions.userIds.filter(isCalled)))
}

const noMentions = { mentioned: [], topicMentioned: [], alerted: [] }

/** The mentioned users, of those whom the message reaches. */
export function mentionDetails(state: State, sender: User, target: Target, content: string, { mentions }: Rendered) {
  const alerted = alertedBy(state, content)
  const { userIds, groupIds, topicWildcard } = mentions
  // Most messages mention no one.
  if (alerted.length === 0 && userIds.length === 0 && groupIds.length === 0 && !topicWildcard) return noMentions
  const reached = 'channel' in target ? state.subscriptions.followers(target.channel.id) : new Set(target.people)
  const mentioned = new Set(userIds.filter(id => reached.has(id)))
  if (groupIds.length > 0) {
    const isMember = memberCheck(state, groupIds)
    for (const id of reached) if (isMember(state.users.get(id)!)) mentioned.add(id)
  }
  const participants =
    topicWildcard && 'channel' in target ? findParticipants(state, target.channel.id, target.topic) : []
  return {
    mentioned: ascending(mentioned),
    topicMentioned: topicWildcard ? ascending(new Set([...participants, sender.id].filter(id => reached.has(id)))) : [],
    alerted: alerted.filter(id => reached.has(id)),
  }
}

export function computeMarks({ hasLink, hasImage, hasAttachment, isMe, mentions }: Rendered): number {
  return (
    (hasLink ? marks.link : 0) |
    (hasImage ? marks.image : 0) |
    (hasAttachment ? marks.attachment : 0) |
    (isMe ? marks.me : 0) |
    (mentions.channelWildcard ? marks.channelWildcard : 0) |
    (mentions.topicWildcard ? marks.topicWildcard : 0)
  )
}

/** Above this number of recipients, mentioning all of them needs permission. */
const many = 15

function checkMentions(ctx: Context, target: Target, { mentions }: Rendered): void {
  const { state } = ctx
  if ('channel' in target) {
    const free = may.mentionMany.allows(ctx)
    if (mentions.channelWildcard && !free && state.subscriptions.followers(target.channel.id).size > many)
      throw new Refusal('You cannot mention everyone in this channel.', { code: 'STREAM_WILDCARD_MENTION_NOT_ALLOWED' })
    if (mentions.topicWildcard && !free && findParticipants(state, target.channel.id, target.topic).size > many)
      throw new Refusal('You cannot mention everyone in this topic.', { code: 'TOPIC_WILDCARD_MENTION_NOT_ALLOWED' })
  }
  for (const id of mentions.groupIds) {
    const group = state.groups.get(id)!
    may.check(may.mentionGroup, ctx, group)
  }
}

/** Users who wrote or reacted in a topic. */
function findParticipants({ messages }: State, channelId: number, topic: string): Set<number> {
  const people = new Set<number>()
  const ids = messages.inTopic(channelId, topic)
  for (let i = 0; i < ids.length; i++) {
    people.add(messages.sender(ids.at(i)))
    for (const reaction of messages.details(ids.at(i))?.reactions ?? []) people.add(reaction.userId)
  }
  return people
}

function buildWidgets(id: number, sender: User, content: string | undefined) {
  return content === undefined ? [] : [{ id: submessageId(id, 0), senderId: sender.id, msgType: 'widget', content }]
}

/** A widget that came with the message, checked, as the text that is kept. */
function widgetGiven(content: string | undefined): string | undefined {
  if (content === undefined) return undefined
  let widget: { widget_type: unknown; extra_data: unknown }
  try {
    widget = JSON.parse(content)
  } catch {
    throw invalid('widget_content', 'must be valid JSON')
  }
  checkWidget(widget)
  return JSON.stringify({ widget_type: widget.widget_type, extra_data: widget.extra_data })
}

/** Unique and growing within a message, which is all that clients rely on. */
export function submessageId(messageId: number, index: number): number {
  return messageId * 1000 + index
}

function ascending(ids: ReadonlySet<number>): number[] {
  return [...ids].sort((a, b) => a - b)
}
