// `#**channel**`, `#**channel>topic**` and `#**channel>topic@message**`.

import type { StateInline } from 'markdown-it'
import { topicLink } from '../../api/links.ts'
import { emptyTopicDisplayName } from '../values/topic-names.ts'
import { element, escapeText } from './html.ts'
import { envOf, matchAt, pushHtml } from './inline.ts'
import type { Env } from './render-context.ts'
import { channelUrl, messageUrl } from './urls.ts'

const place = /#\*\*((?:[^*\n]|\*(?!\*))+)\*\*/y

export function placeLink(state: StateInline): boolean {
  const { src, pos } = state
  // OPEN: a place link may start wherever a mention may; the rule is stated for mentions only.
  if (src[pos] !== '#' || envOf(state).linked || (pos > 0 && !/[\s'"({[/<]/.test(src[pos - 1]!))) return false
  const found = matchAt(place, state)
  if (!found) return false
  const html = placeHtml(envOf(state), found[1]!)
  if (html === undefined) state.pos = pos
  else pushHtml(state, html)
  return html !== undefined
}

function placeHtml({ context, findings }: Env, text: string): string | undefined {
  const arrow = text.indexOf('>')
  const channel = context.channel(arrow < 0 ? text : text.slice(0, arrow))
  if (!channel) return arrow < 0 ? undefined : channelHtml(context.channel(text))
  findings.channels.add(channel.id)
  if (arrow < 0) return channelHtml(channel)
  const rest = text.slice(arrow + 1)
  const [, topic = rest, messageId] = /^(.*)@(\d{1,15})$/.exec(rest) ?? []
  const href = topicLink('', channel, topic)
  const name = topic === '' ? element('em', {}, emptyTopicDisplayName) : escapeText(topic)
  const words = `#${escapeText(channel.name)} &gt; ${name}`
  if (messageId !== undefined) {
    findings.messages.add(Number(messageId))
    return element('a', { class: 'message-link', href: messageUrl(channel, topic, Number(messageId)) }, `${words} @ 💬`)
  }
  const latest = context.latestMessage(channel.id, topic)
  return element(
    'a',
    {
      class: 'stream-topic',
      'data-stream-id': channel.id,
      href: latest === undefined ? href : `${href}/with/${latest}`,
    },
    words,
  )
}

function channelHtml(channel: { readonly id: number; readonly name: string } | undefined): string | undefined {
  if (!channel) return undefined
  const attributes = { class: 'stream', 'data-stream-id': channel.id, href: channelUrl(channel) }
  return element('a', attributes, `#${escapeText(channel.name)}`)
}
