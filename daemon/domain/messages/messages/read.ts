// Reading messages: by range, by ID, their history, and who else has read them.

import type { ParamsOf } from '../../../api/define.ts'
import type { messages as api } from '../../../api/messages/messages.ts'
import { render } from '../../markdown/index.ts'
import { hasMuted } from '../../model/lookups.ts'
import { hasRow, isUnread, listFlags } from '../../model/message-reader.ts'
import { organizationSetting, userSetting } from '../../model/settings.ts'
import type { State, User } from '../../model/state.ts'
import { type Plan, planExactNarrow, planNarrow } from '../../narrow/index.ts'
import { highlight, highlightedText } from '../../narrow/search.ts'
import { conflict, invalid, needed, Refusal } from '../../refusal.ts'
import type { Context } from '../../resource.ts'
import { accessUser, mayHaveStrangers, seeMessage } from '../../rules/index.ts'
import { topicShown } from '../../values/topic-names.ts'
import { checkVisible } from './access.ts'
import { truncateContent } from './compose.ts'
import { charactersPerPart } from './edit-history.ts'
import { HtmlDifferences } from './html-differences.ts'
import { isMove, presentRead, type View } from './present.ts'
import { anchorInside, findRange, resolveAnchor } from './range.ts'
import { renderPlace } from './send.ts'

const most = 5000
/**
 * Characters of messages, with their earlier versions and all else that they have, on one side of the anchor: a page with more would keep
 * other callers waiting.
 * OPEN: public servers return all messages of a page, however large they are; here a page ends at 16 Mi characters on each side of the
 * anchor.
 */
const mostCharacters = 16 * 1024 * 1024

export function list(ctx: Context, params: ParamsOf<typeof api.list>) {
  const view = {
    applyMarkdown: params.apply_markdown,
    clientGravatar: params.client_gravatar,
    emptyTopic: params.allow_empty_topic_name,
    pairsRenumbered: ctx.server.level.rules.pairsRenumbered,
    isStranger: strangersTo(ctx),
  }
  if (params.message_ids !== undefined) return { reply: byIds(ctx, params, params.message_ids, view) }
  const { num_before: before = 0, num_after: after = 0, include_anchor: includeAnchor } = params
  const given = params.use_first_unread_anchor ? 'first_unread' : params.anchor
  if (given === undefined) throw needed('anchor')
  if (before + after > most) throw invalid('num_before', `num_before and num_after must add up to at most ${most}`)
  if (!includeAnchor && before > 0 && after > 0) throw anchorInside()
  const plan = planNarrow(ctx, params.narrow)
  const anchor = resolveAnchor(ctx, plan, given, params.anchor_date)
  const found = findRange(ctx, plan, { anchor, includeAnchor, before, after })
  const older = found.ids.filter(id => id < anchor)
  const newer = found.ids.slice(older.length)
  const below = takeWhole(ctx, older.reverse(), view, plan).reverse()
  const above = takeWhole(ctx, newer, view, plan)
  return {
    reply: {
      messages: [...below, ...above],
      anchor,
      found_anchor: found.foundAnchor,
      found_oldest: found.foundOldest && below.length === older.length,
      found_newest: found.foundNewest && above.length === newer.length,
      history_limited: false,
    },
  }
}

/** Parameters of a range, in the order in which the refusal lists them. */
const rangeParams = [
  'num_before',
  'num_after',
  'anchor',
  'message_ids',
  'include_anchor',
  'use_first_unread_anchor',
] as const

function byIds(ctx: Context, params: ParamsOf<typeof api.list>, given: readonly number[], view: View) {
  const { anchor, num_before, num_after, use_first_unread_anchor } = params
  if (anchor !== undefined || num_before || num_after || use_first_unread_anchor)
    throw invalid('message_ids', 'cannot be combined with an anchor, num_before or num_after', {
      fields: { parameters: rangeParams.join(', ') },
    })
  checkCount('message_ids', given)
  const plan = planNarrow(ctx, params.narrow)
  // OPEN: messages that a request names by ID are shown if the caller may read them; the public server leaves out those that the caller
  // did not receive, unless the narrow names a channel.
  const fits = params.narrow?.length ? plan.test : (id: number) => seeMessage.allows(ctx, id)
  const ids = [...new Set(given)].filter(fits).sort((a, b) => a - b)
  const messages = takeWhole(ctx, ids, view, plan)
  if (messages.length < ids.length) throw tooMany('message_ids')
  return {
    messages,
    found_anchor: false,
    found_oldest: false,
    found_newest: false,
    history_limited: false,
  }
}

function checkCount(parameter: string, ids: readonly number[]): void {
  if (ids.length > most) throw invalid(parameter, `must have at most ${most} IDs`)
}

function tooMany(parameter: string): Refusal {
  return invalid(parameter, 'has more messages than fit into one reply; ask for fewer')
}

type Presented = ReturnType<typeof presentFound>

/** The first of these messages, as many as fit into a reply, and at least one. */
function takeWhole(ctx: Context, ids: readonly number[], view: View, plan: Plan): Presented[] {
  const messages: Presented[] = []
  let size = 0
  for (const id of ids) {
    const message = presentFound(ctx, id, view, plan)
    size += countCharacters(message) + markingCost(message, plan)
    if (size > mostCharacters && messages.length > 0) break
    messages.push(message)
  }
  return messages
}

function countCharacters(message: Presented): number {
  const {
    content,
    match_content = '',
    display_recipient,
    reactions,
    submessages,
    topic_links,
    edit_history = [],
  } = message
  const people = typeof display_recipient === 'string' ? 1 : display_recipient.length
  const parts = people + reactions.length + submessages.length + edit_history.length
  let size = content.length + match_content.length + parts * charactersPerPart
  for (const { prev_content = '', prev_rendered_content = '' } of edit_history)
    size += prev_content.length + prev_rendered_content.length
  for (const part of submessages) size += part.content.length
  for (const { text, url } of topic_links) size += text.length + url.length
  return size
}

/** The text is read once for each of the words. */
function markingCost({ match_content = '' }: { readonly match_content?: string }, { search }: Plan): number {
  return match_content.length * search.length
}

function presentFound(ctx: Context, id: number, view: View, plan?: Plan) {
  const { state, actor } = ctx
  const message = state.messages.get(id)!
  return {
    ...presentRead(state, message, view, listFlags(state, actor.id, id)),
    ...(plan && plan.search.length > 0 && matchFields(message, plan.search, view.emptyTopic)),
  }
}

/** Asked for every message of a page, so each answer is kept as long. */
function strangersTo(ctx: Context): View['isStranger'] {
  if (!mayHaveStrangers(ctx)) return undefined
  const known = new Map<User, boolean>()
  return user => {
    const stranger = known.get(user) ?? !accessUser.allows(ctx, user)
    known.set(user, stranger)
    return stranger
  }
}

function matchFields(
  { html, topic }: { readonly html: string; readonly topic?: string },
  terms: readonly string[],
  emptyTopic: boolean,
) {
  return {
    match_content: highlight(html, terms),
    match_subject: highlightedText(topicShown(topic, emptyTopic), terms),
  }
}

export function get(ctx: Context, params: ParamsOf<typeof api.get>) {
  const id = checkVisible(ctx, params.message_id)
  const view = {
    applyMarkdown: params.apply_markdown,
    clientGravatar: true,
    emptyTopic: params.allow_empty_topic_name,
    pairsRenumbered: ctx.server.level.rules.pairsRenumbered,
    isStranger: strangersTo(ctx),
  }
  return { reply: { message: presentFound(ctx, id, view), raw_content: ctx.state.messages.content(id) } }
}

export function history(ctx: Context, { message_id, allow_empty_topic_name }: ParamsOf<typeof api.history>) {
  const { state } = ctx
  const policy = organizationSetting(state, 'message_edit_history_visibility_policy')
  if (policy === 'none')
    throw new Refusal('This organization does not show the edit history of messages.', { kind: 'forbidden' })
  const message = state.messages.get(checkVisible(ctx, message_id))!
  const topicName = (topic: string | undefined) => topicShown(topic, allow_empty_topic_name)
  // Walked backwards from what it is now.
  let { content, html, topic } = message
  const entries = []
  const differences = new HtmlDifferences()
  const edits = (message.details?.edits ?? []).filter(edit => policy === 'all' || isMove(edit))
  let size = 0
  for (const edit of edits.toReversed()) {
    // With a move, too, comes the whole content.
    size += content.length + html.length + charactersPerPart
    if (size > mostCharacters)
      throw conflict(
        'message_id',
        'the history of this message does not fit into one reply; fetch the message, its edit_history has all changes',
      )
    entries.push({
      topic: topicName(topic),
      content,
      rendered_content: html,
      timestamp: edit.time,
      user_id: edit.userId,
      ...(edit.prevContent !== undefined &&
        policy === 'all' && {
          prev_content: edit.prevContent,
          prev_rendered_content: edit.prevHtml!,
          content_html_diff: differences.between(edit.prevHtml!, html),
        }),
      ...(edit.prevTopic !== undefined && { prev_topic: topicName(edit.prevTopic) }),
      ...(edit.prevChannelId !== undefined && { prev_stream: edit.prevChannelId, stream: edit.channelId! }),
    })
    if (policy === 'all') {
      content = edit.prevContent ?? content
      html = edit.prevHtml ?? html
    }
    topic = edit.prevTopic ?? topic
  }
  entries.push({
    topic: topicName(topic),
    content,
    rendered_content: html,
    timestamp: message.time,
    user_id: message.senderId,
  })
  return { reply: { message_history: entries.reverse() } }
}

export function renderContent(ctx: Context, { content }: ParamsOf<typeof api.render>) {
  if (content.trim() === '') return { reply: { rendered: '' } }
  return { reply: { rendered: render(ctx, truncateContent(content), renderPlace(ctx)).html } }
}

export function matches(ctx: Context, { msg_ids, narrow }: ParamsOf<typeof api.matches>) {
  const { state, actor } = ctx
  checkCount('msg_ids', msg_ids)
  const plan = planExactNarrow(ctx, narrow)
  const found: Record<string, { match_content: string; match_subject: string }> = {}
  let size = 0
  for (const id of new Set(msg_ids)) {
    if (!state.messages.has(id) || !hasRow(state, actor.id, id) || !plan.test(id)) continue
    const match = matchFields(state.messages.get(id)!, plan.search, false)
    size += match.match_content.length + markingCost(match, plan)
    if (size > mostCharacters) throw tooMany('msg_ids')
    found[id] = match
  }
  return { reply: { messages: found } }
}

export function receipts(ctx: Context, { message_id }: ParamsOf<typeof api.receipts>) {
  const { state, actor } = ctx
  if (!organizationSetting(state, 'enable_read_receipts'))
    throw new Refusal('Read receipts are disabled in this organization.', { kind: 'forbidden' })
  const id = checkVisible(ctx, message_id)
  const senderId = state.messages.sender(id)
  const userIds = havingRow(state, id).filter(userId => {
    const user = state.users.get(userId)!
    if (userId === senderId || !user.active || !userSetting(user, 'send_read_receipts')) return false
    if (hasMuted(state, actor.id, userId) || hasMuted(state, userId, actor.id)) return false
    return !isUnread(state, userId, id)
  })
  return { reply: { user_ids: userIds.sort((a, b) => a - b) } }
}

/** Users who have the message in their history. */
function havingRow(state: State, id: number): number[] {
  const { conversationId } = state.messages.place(id).thread
  if (conversationId !== 0) return [...state.conversations.get(conversationId)!.userIds]
  const people = new Set(state.subscriptions.followers(state.messages.sentTo(id)).everyone())
  for (const userId of state.messageFlags.users()) {
    const { historical, gained } = state.messageFlags.of(userId)
    if (historical.has(id) || gained.has(id)) people.add(userId)
  }
  return [...people].filter(userId => hasRow(state, userId, id))
}
