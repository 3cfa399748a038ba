// Changing a message: its content, or where it is.

import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import type { ParamsOf } from '../../../api/define.ts'
import type { messages as api } from '../../../api/messages/messages.ts'
import { detachedBy, relink } from '../../files/attachments.ts'
import type { MessageEdited } from '../../model/facts/messages.ts'
import type { Edit, Message } from '../../model/message-store/index.ts'
import { organizationSetting } from '../../model/settings.ts'
import type { Channel } from '../../model/state.ts'
import { conflict, invalid, neededOneOf, Refusal } from '../../refusal.ts'
import type { Context } from '../../resource.ts'
import * as may from '../../rules/index.ts'
import { seconds } from '../../values/time.ts'
import { emptyTopicDisplayName, resolvedPrefix, topicMeant } from '../../values/topic-names.ts'
import { checkChangeable } from './access.ts'
import { grace, isOlder } from './ages.ts'
import { messageContent } from './compose.ts'
import { checkRoomForEdit } from './edit-history.ts'
import { moveMessages, newPlace } from './move.ts'
import { tidy } from './present.ts'
import { composeMessage, computeMarks, mentionDetails, type Target } from './send.ts'

type Params = ParamsOf<typeof api.update>

export function update(ctx: Context, params: Params) {
  const { state } = ctx
  const message = state.messages.get(checkChangeable(ctx, params.message_id))!
  const channel = message.channelId === undefined ? undefined : state.channels.get(message.channelId)!
  if (params.content !== undefined) checkEditing(ctx, message, grace)
  const { topic: given, stream_id: target, ...others } = params
  const topic = changedTopic(given, message)
  const isSameChannel = target === channel?.id && ctx.server.level.rules.sameChannelIsNoMove
  const wanted: Params = {
    ...others,
    ...(topic !== undefined && { topic }),
    ...(target !== undefined && !isSameChannel && { stream_id: target }),
  }
  checkTogether(wanted, message)
  const content = params.content === undefined ? undefined : newContent(params.content)
  const place = channel ? newPlace(ctx, wanted, message, channel) : undefined
  const edit = content === undefined ? undefined : editContent(ctx, message, channel, content, place?.topic)
  const change = place ? moveMessages(ctx, wanted, message, channel!, place, edit?.fact) : [edit!.fact]
  return { facts: [...(edit?.links ?? []), ...change], reply: { detached_uploads: edit?.detached ?? [] } }
}

/** The topic to move to; undefined when it is the one the message has. */
function changedTopic(given: string | undefined, { topic, channelId }: Message): string | undefined {
  if (given === undefined || channelId === undefined) return given
  const meant = topicMeant(given)
  return meant === topic ? undefined : meant
}

function checkTogether(params: Params, message: Message): void {
  const { content, topic, stream_id, propagate_mode } = params
  if (content === undefined && topic === undefined && stream_id === undefined) {
    if (message.channelId === undefined) throw neededOneOf('content', 'topic', 'stream_id')
    throw conflict('topic', 'nothing changes: give content, or another topic or channel')
  }
  if (message.channelId === undefined && (topic !== undefined || stream_id !== undefined))
    throw invalid(topic === undefined ? 'stream_id' : 'topic', 'direct messages cannot be moved')
  if (propagate_mode !== 'change_one' && topic === undefined && stream_id === undefined)
    throw invalid('propagate_mode', 'needs topic or stream_id')
  if (topic === resolvedPrefix.trim() || topic === resolvedPrefix + emptyTopicDisplayName)
    throw invalid('topic', 'the empty topic cannot be resolved')
  if (content !== undefined && stream_id !== undefined) throw invalid('stream_id', 'cannot be combined with content')
  checkUnchanged(params, message)
}

/** Whether the content is still the one that the caller knows. */
function checkUnchanged({ prev_content_sha256: known }: Params, { content }: Message): void {
  if (known === undefined || bytesToHex(sha256(utf8ToBytes(content))) === known.toLowerCase()) return
  throw conflict('prev_content_sha256', 'the content has changed since; fetch the message again', {
    code: 'EXPECTATION_MISMATCH',
    fields: { field_name: 'prev_content_sha256' },
  })
}

// --- content ----------------------------------------------------------------------------------------------------

function newContent(given: string): string {
  return given.trim() === '' ? '(deleted)' : messageContent(given)
}

/** Whether the actor may change the content now. */
export function checkEditing(ctx: Context, message: Message, extra: number): void {
  may.check(may.editContent, ctx, message)
  if (message.details?.submessages) throw conflict('message_id', 'widgets cannot be edited')
  if (!organizationSetting(ctx.state, 'allow_message_editing'))
    throw new Refusal('Editing messages is turned off in this organization.', { kind: 'forbidden' })
  if (isOlder(ctx, message.time, 'message_content_edit_limit_seconds', extra))
    throw new Refusal('The time limit for editing this message has passed.', { kind: 'forbidden' })
  checkRoomForEdit(message)
}

function editContent(
  ctx: Context,
  message: Message,
  channel: Channel | undefined,
  content: string,
  topic = message.topic,
) {
  const target: Target = channel
    ? { channel, topic: topic! }
    : { people: ctx.state.conversations.get(message.conversationId!)!.userIds }
  const rendered = composeMessage(ctx, target, content)
  const edit: Edit = {
    userId: ctx.actor.id,
    time: seconds(ctx.now),
    prevContent: message.content,
    prevHtml: message.html,
  }
  const details = tidy({
    ...message.details,
    ...mentionDetails(ctx.state, ctx.actor, target, content, rendered),
    // With all earlier ones in each fact, the journal would grow with the square of their number.
    edits: undefined,
  })
  const now: Message = { ...message, content, html: rendered.html, marks: computeMarks(rendered), details }
  const links = relink(ctx, rendered.uploads, now)
  const fact: MessageEdited = { type: 'message.edited', message: now, edit }
  return { fact, links, detached: links.flatMap(link => detachedBy(ctx, link)) }
}
