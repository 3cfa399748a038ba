// Messages as the API shows them.

import { type Details, type Edit, type Message, marks, type Reaction } from '../../model/message-store/index.ts'
import { organizationSetting } from '../../model/settings.ts'
import type { State, User } from '../../model/state.ts'
import { presentAuthor } from '../../people/users/present.ts'
import { togglesResolved, topicShown } from '../../values/topic-names.ts'

export interface View {
  readonly applyMarkdown: boolean
  readonly clientGravatar: boolean
  /** Whether the empty topic is shown as the empty string. */
  readonly emptyTopic: boolean
  /** Whether conversations of two have the numbers that newer levels give them. */
  readonly pairsRenumbered?: boolean
  /** People that the reader may not know: they are replaced by a placeholder. Absent: none. */
  readonly isStranger?: ((user: User) => boolean) | undefined
}

/** As events carry it. */
export function presentMessage(state: State, message: Message, view: View) {
  const { id, senderId, channelId, time, client, details } = message
  const sender = author(state, senderId, view)
  return {
    id,
    type: channelId === undefined ? ('private' as const) : ('stream' as const),
    ...(channelId !== undefined && { stream_id: channelId }),
    subject: topicShown(message.topic, view.emptyTopic),
    content: view.applyMarkdown ? message.html : message.content,
    content_type: view.applyMarkdown ? ('text/html' as const) : ('text/x-markdown' as const),
    display_recipient: channelId === undefined ? people(state, message, view) : state.channels.get(channelId)!.name,
    recipient_id: recipientId(state, message, view),
    sender_id: senderId,
    sender_email: sender.email,
    sender_full_name: sender.full_name,
    sender_realm_str: '',
    avatar_url: sender.avatar_url,
    client,
    is_me_message: (message.marks & marks.me) !== 0,
    timestamp: time,
    reactions: (details?.reactions ?? []).map(presentReaction),
    submessages: (details?.submessages ?? []).map(part => ({
      id: part.id,
      message_id: id,
      sender_id: part.senderId,
      msg_type: part.msgType,
      content: part.content,
    })),
    topic_links: [...(details?.topicLinks ?? [])],
  }
}

/** As reads return it: with what was done to it since. */
export function presentRead(state: State, message: Message, view: View, flags: string[]) {
  const edits = message.details?.edits ?? []
  const policy = organizationSetting(state, 'message_edit_history_visibility_policy')
  const shownEdits = policy === 'none' ? [] : edits.filter(edit => policy === 'all' || isMove(edit))
  const edited = edits.findLast(edit => edit.prevContent !== undefined)
  const moved = edits.findLast(edit => isMove(edit) && !isResolving(edit))
  return {
    ...presentMessage(state, message, view),
    ...(edited && { last_edit_timestamp: edited.time }),
    ...(moved && { last_moved_timestamp: moved.time }),
    ...(shownEdits.length > 0 && {
      edit_history: shownEdits.map(edit => presentEdit(edit, policy === 'all', view.emptyTopic)).reverse(),
    }),
    flags,
  }
}

export function presentReaction({ name, code, type, userId }: Reaction) {
  return { emoji_name: name, emoji_code: code, reaction_type: type, user_id: userId }
}

function presentEdit(edit: Edit, withContent: boolean, emptyTopic: boolean) {
  return {
    user_id: edit.userId,
    timestamp: edit.time,
    ...(withContent &&
      edit.prevContent !== undefined && { prev_content: edit.prevContent, prev_rendered_content: edit.prevHtml! }),
    ...(edit.prevTopic !== undefined && {
      prev_topic: topicShown(edit.prevTopic, emptyTopic),
      topic: topicShown(edit.topic, emptyTopic),
    }),
    ...(edit.prevChannelId !== undefined && { prev_stream: edit.prevChannelId, stream: edit.channelId! }),
  }
}

export function isMove(edit: Edit): boolean {
  return edit.prevTopic !== undefined || edit.prevChannelId !== undefined
}

function isResolving({ prevTopic, topic, prevChannelId }: Edit): boolean {
  return prevChannelId === undefined && prevTopic !== undefined && togglesResolved(prevTopic, topic!)
}

/** One number for each set of recipients: channels have the even ones, conversations the odd. */
function recipientId(state: State, { channelId, conversationId }: Message, { pairsRenumbered }: View): number {
  if (channelId !== undefined) return channelId * 2
  const isPair = state.conversations.get(conversationId!)!.userIds.length <= 2
  return conversationId! * 2 + 1 + (pairsRenumbered && isPair ? firstRenumbered : 0)
}

/** More than there are conversations and channels. */
const firstRenumbered = 2 ** 30

function people(state: State, { conversationId }: Message, view: View) {
  return state.conversations.get(conversationId!)!.userIds.map(id => {
    const { email, full_name } = author(state, id, view)
    return { id, email, full_name, is_mirror_dummy: false }
  })
}

function author(state: State, userId: number, { clientGravatar, isStranger }: View) {
  const user = state.users.get(userId)!
  return presentAuthor(state, user, clientGravatar, isStranger?.(user) ?? false)
}

/** Details without those that are empty or absent, so that replay gives the same row. */
export function tidy(details: { [K in keyof Details]?: Details[K] | undefined }): Details {
  const kept: Record<string, unknown> = {}
  for (const key of detailKeys) {
    const value = details[key]
    if (value !== undefined && !(Array.isArray(value) && value.length === 0)) kept[key] = value
  }
  return kept
}

const detailKeys = [
  'mentioned',
  'topicMentioned',
  'alerted',
  'topicLinks',
  'edits',
  'reactions',
  'submessages',
  'sentTo',
] as const satisfies (keyof Details)[]
