// Messages: commands, what their facts change, and their events.

import { messages as api } from '../../../api/messages/messages.ts'
import { wake } from '../../channels/channels/activity.ts'
import { findAttachments, unlink } from '../../files/attachments.ts'
import type {
  MessageEdited,
  MessageSent,
  MessagesDeleted,
  MessagesMoved,
  SubmessageAdded,
} from '../../model/facts/messages.ts'
import { newestOwn, Reader } from '../../model/message-reader.ts'
import { packRuns } from '../../model/message-store/index.ts'
import type { State } from '../../model/state.ts'
import { type Context, resource } from '../../resource.ts'
import { topicShown } from '../../values/topic-names.ts'
import { presentUnread } from '../message-flags/unread.ts'
import * as tell from './announce.ts'
import { remove } from './delete.ts'
import { typing } from './edit-typing.ts'
import { tidy } from './present.ts'
import { get, history, list, matches, receipts, renderContent } from './read.ts'
import { report } from './report.ts'
import { retention } from './retention.ts'
import { sendMessage } from './send-command.ts'
import { submessage } from './submessage.ts'
import { update } from './update.ts'

type OwnFact = MessageSent | MessageEdited | MessagesMoved | MessagesDeleted | SubmessageAdded

export const messages = resource(api)<OwnFact>({
  commands: {
    send: sendMessage,
    list,
    get,
    update,
    delete: remove,
    history,
    render: renderContent,
    matches,
    receipts,
    report,
    typing,
    submessage,
  },

  apply: {
    'message.sent': (state, { message, conversation, readBy = [], calls = [], woke }) => {
      if (conversation) state.conversations.put(conversation)
      state.messages.add(message)
      for (const userId of readBy) state.messageFlags.add(userId, 'read', [message.id, message.id])
      for (const delivery of calls) state.webhookDeliveries.put(delivery)
      if (woke) wake(state, message.channelId!)
    },
    'message.edited': edit,
    'messages.moved': move,
    'messages.deleted': (state, { ids, unlinked = ids }) => {
      state.messages.remove(ids)
      unlink(state, findAttachments(state, unlinked), unlinked)
    },
    'submessage.added': (state, { messageId, submessage }) => {
      const details = state.messages.details(messageId)
      const submessages = [...(details?.submessages ?? []), submessage]
      state.messages.setDetails(messageId, tidy({ ...details, submessages }))
    },
  },

  announce: {
    'message.sent': tell.sent,
    'message.edited': tell.announceEdited,
    'messages.moved': tell.announceMoved,
    'messages.deleted': tell.announceDeleted,
    'submessage.added': tell.announceSubmessage,
  },

  sections: {
    message: ctx => ({ max_message_id: newestOwn(ctx.state, ctx.actor.id) }),
    // Only with both event types: without one of them a client could not keep it up to date.
    update_message_flags: (ctx, client) =>
      client.fetched && !client.fetched.includes('message')
        ? {}
        : { unread_msgs: presentUnread(ctx, topic => topicShown(topic, client.emptyTopic)) },
    starred_messages: ({ state, actor }) => ({ starred_messages: listStarred(state, actor.id) }),
    recent_private_conversations: ctx => ({ recent_private_conversations: recentConversations(ctx) }),
  },

  jobs: [retention],
})

function edit(state: State, { message: { id, content, html, marks, details = {} }, edit }: MessageEdited): void {
  const before = state.messages.details(id)?.edits ?? []
  // Facts of earlier versions have all edits.
  const edits = details.edits ?? [...before, edit]
  state.messages.edit(id, content, html, marks, tidy({ ...details, edits }))
}

function move(state: State, fact: MessagesMoved): void {
  const { ids, from, to, userId, time, topicLinks, markedRead, unstarred = [], edited } = fact
  if (edited) edit(state, edited)
  const gained = listGained(state, fact)
  const entry = {
    userId,
    time,
    ...(from.topic !== to.topic && { prevTopic: from.topic, topic: to.topic }),
    ...(from.channelId !== to.channelId && { prevChannelId: from.channelId, channelId: to.channelId }),
  }
  state.messages.move(ids, to.channelId, to.topic, (id, place) => {
    const details = state.messages.details(id)
    const sentTo = details?.sentTo ?? place.thread.channelId
    const edits = details?.edits ?? []
    // One object for all, as far as they had the same name of the topic.
    const move = [undefined, place.topic].includes(entry.prevTopic) ? entry : { ...entry, prevTopic: place.topic }
    return tidy({
      ...details,
      topicLinks,
      // Content and place changed together are one entry.
      edits: id === edited?.message.id ? [...edits.slice(0, -1), { ...edits.at(-1)!, ...move }] : [...edits, move],
      sentTo: sentTo === to.channelId ? undefined : sentTo,
    })
  })
  for (const [reader, runs] of markedRead) {
    state.messageFlags.add(reader, 'read', runs)
    state.messageFlags.remove(reader, 'unread', runs)
  }
  for (const [reader, runs] of unstarred) state.messageFlags.remove(reader, 'starred', runs)
  for (const reader of fact.lost ?? []) loseRows(state, reader, packRuns(ids))
  for (const [reader, runs] of gained) {
    state.messageFlags.remove(reader, 'lost', runs)
    state.messageFlags.add(reader, 'gained', runs)
  }
}

/** What comes into the histories of users, by user; asked before the messages move. */
function listGained(state: State, { ids, gained = [] }: MessagesMoved): [userId: number, runs: number[]][] {
  return gained.map(userId => {
    const reader = new Reader(state, userId)
    return [userId, packRuns(ids.filter(id => !reader.hasRow(id)))]
  })
}

function loseRows(state: State, userId: number, runs: readonly number[]): void {
  for (const set of ['unread', 'starred', 'collapsed', 'historical', 'gained'] as const)
    state.messageFlags.remove(userId, set, runs)
  state.messageFlags.add(userId, 'lost', runs)
}

function listStarred(state: State, userId: number): number[] {
  const { starred: set } = state.messageFlags.of(userId)
  const ids: number[] = []
  for (let id = set.atLeast(1); id !== Number.POSITIVE_INFINITY; id = set.atLeast(id + 1))
    if (state.messages.has(id)) ids.push(id)
  return ids
}

/** Direct conversations by their newest message, newest first. */
function recentConversations({ state, actor }: Context) {
  return state.conversations
    .where('member', actor.id)
    .map(({ id, userIds }) => ({
      user_ids: userIds.filter(userId => userId !== actor.id),
      max_message_id: state.messages.inConversation(id).last,
    }))
    .filter(conversation => conversation.max_message_id > 0)
    .sort((a, b) => b.max_message_id - a.max_message_id)
    .slice(0, 1000)
}
