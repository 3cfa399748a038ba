// The toolset `write`: send, edit, react, mark read, create a channel, subscribe. Off unless asked for.

import { messageLink } from '../api/links.ts'
import { Type } from '../api/shape-builders.ts'
import type { Chat } from './chat.ts'
import { findChannel, findUsers, linkIn, messageIdIn } from './names.ts'
import { buildNarrow, selection } from './read-tools.ts'
import { oneLine } from './text.ts'
import { tool } from './tool.ts'
import { ToolError } from './tool-error.ts'

const message = Type.Union([Type.Integer({ minimum: 0 }), Type.String({ maxLength: 1000 })], {
  description: 'Message ID or link.',
})
const done = Type.Object({ done: Type.Boolean() })
const linked = Type.Object({ id: Type.Integer(), link: Type.String() })

export const writeTools = [
  tool({
    name: 'send_message',
    toolset: 'write',
    title: 'Send a message',
    description: 'Sends a message to a topic of a channel, or to users directly. Other people see it.',
    impact: 'write',
    input: Type.Object({
      channel: Type.Optional(Type.String({ maxLength: 1000, description: 'Channel: name, ID, or link to a topic.' })),
      topic: Type.Optional(Type.String({ maxLength: 200 })),
      direct_to: Type.Optional(
        Type.Array(Type.String({ maxLength: 300 }), { maxItems: 50, description: 'Email, full name or ID of each.' }),
      ),
      content: Type.String({ maxLength: 10_000, description: 'Markdown.' }),
    }),
    output: linked,
    async run({ chat, signal }, { channel, topic, direct_to, content }) {
      if ((channel === undefined) === (direct_to === undefined))
        throw new ToolError('Give either channel and topic, or direct_to.')
      const place = channel === undefined ? undefined : linkIn(chat, channel)
      const to =
        channel === undefined
          ? { type: 'direct', to: (await findUsers(chat, direct_to!, signal)).map(user => user.user_id) }
          : {
              type: 'stream',
              to: (await findChannel(chat, channel, signal)).stream_id,
              topic: topic ?? (place?.kind === 'channel' ? place.topic : undefined) ?? '',
            }
      const { id } = await chat.call({ method: 'POST', path: '/messages', params: { ...to, content }, signal })
      const link = await fetchLink(chat, Number(id), signal)
      return { text: `Sent message ${id}: ${link}`, data: { id: Number(id), link } }
    },
  }),
  tool({
    name: 'edit_message',
    toolset: 'write',
    title: 'Edit or move a message',
    description: 'Changes the content of a message, or moves it to another topic or channel.',
    impact: 'destroy',
    idempotent: true,
    input: Type.Object({
      message,
      content: Type.Optional(Type.String({ maxLength: 10_000 })),
      topic: Type.Optional(Type.String({ maxLength: 200 })),
      channel: Type.Optional(Type.String({ maxLength: 1000, description: 'Name, ID or link.' })),
      move: Type.Optional(
        Type.Union([Type.Literal('one'), Type.Literal('later'), Type.Literal('all')], {
          description: 'Which messages of the topic move. Default one.',
        }),
      ),
    }),
    output: linked,
    async run({ chat, signal }, { message: which, content, topic, channel, move = 'one' }) {
      if (content === undefined && topic === undefined && channel === undefined)
        throw new ToolError('Give content, topic or channel: what is to change.')
      const id = messageIdIn(chat, which)
      const params = {
        ...(content !== undefined && { content }),
        ...(topic !== undefined && { topic }),
        ...(channel !== undefined && { stream_id: (await findChannel(chat, channel, signal)).stream_id }),
        ...((topic !== undefined || channel !== undefined) && { propagate_mode: `change_${move}` }),
      }
      await chat.call({ method: 'PATCH', path: `/messages/${id}`, params, signal })
      const link = await fetchLink(chat, id, signal)
      return { text: `Changed message ${id}: ${link}`, data: { id, link } }
    },
  }),
  tool({
    name: 'react',
    toolset: 'write',
    title: 'React to a message',
    description: 'Adds an emoji reaction to a message, or removes it.',
    impact: 'write',
    idempotent: true,
    input: Type.Object({
      message,
      emoji: Type.String({ maxLength: 100, description: 'Name, such as thumbs_up.' }),
      remove: Type.Optional(Type.Boolean()),
    }),
    output: done,
    async run({ chat, signal }, { message: which, emoji, remove = false }) {
      const id = messageIdIn(chat, which)
      const params = { emoji_name: emoji.replace(/^:(.+):$/, '$1') }
      await chat.call({ method: remove ? 'DELETE' : 'POST', path: `/messages/${id}/reactions`, params, signal })
      return {
        text: `${remove ? 'Removed' : 'Added'} :${oneLine(params.emoji_name)}: on message ${id}.`,
        data: { done: true },
      }
    },
  }),
  tool({
    name: 'mark_read',
    toolset: 'write',
    title: 'Mark messages as read',
    description: 'Marks messages as read: the ones that are named, or all that match.',
    impact: 'write',
    idempotent: true,
    input: Type.Object({
      messages: Type.Optional(Type.Array(message, { maxItems: 1000 })),
      ...selection,
    }),
    output: Type.Object({ updated: Type.Integer(), found_all: Type.Boolean() }),
    async run({ chat, signal }, { messages, ...selected }) {
      if (messages === undefined && Object.keys(selected).length === 0)
        throw new ToolError('Give messages, or a channel, topic, sender or other selection.')
      const flag = { op: 'add', flag: 'read' }
      if (messages !== undefined) {
        const params = { ...flag, messages: messages.map(one => messageIdIn(chat, one)) }
        const reply = await chat.call({ method: 'POST', path: '/messages/flags', params, signal })
        const updated = Array.isArray(reply.messages) ? reply.messages.length : messages.length
        return { text: `Marked ${updated} as read.`, data: { updated, found_all: true } }
      }
      const narrow = [...(await buildNarrow(chat, selected, signal)), { operator: 'is', operand: 'unread' }]
      const params = { ...flag, anchor: 'oldest', num_before: 0, num_after: 5000, narrow }
      const reply = await chat.call({ method: 'POST', path: '/messages/flags/narrow', params, signal })
      const found_all = reply.found_newest === true
      const more = found_all ? '' : ' There are more: call again.'
      return {
        text: `Marked ${reply.updated_count} as read.${more}`,
        data: { updated: Number(reply.updated_count), found_all },
      }
    },
  }),
  tool({
    name: 'create_channel',
    toolset: 'write',
    title: 'Create a channel',
    description: 'Creates a channel and subscribes the account to it.',
    impact: 'write',
    input: Type.Object({
      name: Type.String({ minLength: 1, maxLength: 60 }),
      description: Type.Optional(Type.String({ maxLength: 1024 })),
      private: Type.Optional(Type.Boolean()),
    }),
    output: Type.Object({ created: Type.Boolean(), name: Type.String() }),
    async run({ chat, signal }, { name, description = '', private: invite_only = false }) {
      const params = { subscriptions: [{ name, description }], invite_only }
      const reply = await chat.call({ method: 'POST', path: '/users/me/subscriptions', params, signal })
      const created = Object.keys((reply.already_subscribed ?? {}) as object).length === 0
      return {
        text: created
          ? `Created #${name}, or subscribed to it if it existed.`
          : `You were subscribed to #${name} already.`,
        data: { created, name },
      }
    },
  }),
  tool({
    name: 'subscribe',
    toolset: 'write',
    title: 'Subscribe to channels',
    description: 'Subscribes the account, or other users, to existing channels.',
    impact: 'write',
    idempotent: true,
    input: Type.Object({
      channels: Type.Array(Type.String({ maxLength: 1000 }), {
        minItems: 1,
        maxItems: 50,
        description: 'Names, IDs or links.',
      }),
      users: Type.Optional(Type.Array(Type.String({ maxLength: 300 }), { maxItems: 100, description: 'If not you.' })),
    }),
    output: done,
    async run({ chat, signal }, { channels, users }) {
      const found = []
      for (const channel of channels) found.push(await findChannel(chat, channel, signal))
      const principals = users && (await findUsers(chat, users, signal)).map(user => user.user_id)
      const params = { subscriptions: found.map(({ name }) => ({ name })), ...(principals && { principals }) }
      await chat.call({ method: 'POST', path: '/users/me/subscriptions', params, signal })
      return { text: `Subscribed to ${found.map(({ name }) => `#${oneLine(name)}`).join(', ')}.`, data: { done: true } }
    },
  }),
]

async function fetchLink(chat: Chat, id: number, signal: AbortSignal): Promise<string> {
  const params = { apply_markdown: false, allow_empty_topic_name: true }
  const { message } = await chat.call({ method: 'GET', path: `/messages/${id}`, params, signal })
  return messageLink(chat.site, message as never)
}
