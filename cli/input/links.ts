// Links to messages, topics and channels in place of IDs and names. Each is replaced by the form that the rest of the command line reads: `id:5`,
// `#id:5>lunch`, the ID of a message.

import type { Endpoint, Param } from '../../daemon/api/define.ts'
import { isLinkTo, type LinkedPlace, readLink } from '../../daemon/api/links.ts'
import { usage } from '../base/failure.ts'
import type { Given } from './flags.ts'

/** What a link leads to; undefined for any other text. A link to another server than the account's is refused. */
export function linkIn(text: string, site: string | undefined): LinkedPlace | undefined {
  const link = text.includes('#narrow/') ? readLink(text) : undefined
  if (!link || site === undefined || site.split(',').some(one => isLinkTo(one, text))) return link
  throw usage(`${text} is a link to another server than ${site}`, 'Use an account of that server: --profile or --site.')
}

/** The recipient that a link names, as one word. */
export function placeWord(text: string, site: string | undefined): string {
  const link = linkIn(text, site)
  if (!link) return text
  if (link.kind === 'direct') return link.userIds.map(id => `id:${id}`).join(',')
  return `#id:${link.channelId}${link.topic === undefined ? '' : `>${link.topic}`}`
}

/** The channel that a link names, and its topic if it has one. */
export function channelWord(
  text: string,
  site: string | undefined,
): { readonly channel: string; readonly topic?: string } {
  const link = linkIn(text, site)
  if (!link) return { channel: text }
  if (link.kind === 'direct') throw usage(`${text} is a link to direct messages, not to a channel`)
  return { channel: `id:${link.channelId}`, ...(link.topic !== undefined && { topic: link.topic }) }
}

export function messageWord(text: string, site: string | undefined): string {
  const link = linkIn(text, site)
  if (!link) return text
  if (link.messageId === undefined) throw usage(`${text} is a link to a conversation, not to a message`)
  return String(link.messageId)
}

/** What was given, with links replaced. The first word of `send` stays as it is: it may be a text to send. */
export function withoutLinks(
  endpoint: Endpoint,
  given: ReadonlyMap<string, Given>,
  site: string | undefined,
): ReadonlyMap<string, Given> {
  const plain = new Map(given)
  for (const [name, value] of given) {
    const kind = typeof value === 'boolean' ? undefined : findKind(endpoint, name)
    if (!kind) continue
    const texts = [value as string | readonly string[]].flat()
    if (!texts.some(text => text.includes('#narrow/'))) continue
    const found = texts.map(text =>
      kind === 'message'
        ? { word: messageWord(text, site) }
        : { word: channelWord(text, site).channel, ...channelWord(text, site) },
    )
    plain.set(name, Array.isArray(value) ? found.map(({ word }) => word) : found[0]!.word)
    const topicName =
      name === '@channel' && endpoint.cli.history ? '@topic' : endpoint.params.topic_name ? 'topic_name' : 'topic'
    const [only] = found as { readonly topic?: string }[]
    if (only?.topic !== undefined && !given.has(topicName) && (topicName === '@topic' || endpoint.params[topicName]))
      plain.set(topicName, only.topic)
  }
  return plain
}

function findKind({ params }: Endpoint, name: string): 'message' | 'channel' | undefined {
  if (name === '@channel') return 'channel'
  if (name === 'anchor' || name === 'message_ids') return 'message'
  // A recipient is a channel or users, by its type.
  const refs = name === 'to' ? [] : refsIn(params[name]?.shape)
  return refs.includes('message') ? 'message' : refs.some(isChannel) ? 'channel' : undefined
}

function isChannel(ref: unknown): boolean {
  return ref === 'channel' || ref === 'channel-name'
}

function refsIn(shape: Param['shape'] | undefined): unknown[] {
  if (!shape) return []
  return [shape.ref, ...(shape.anyOf ?? []).flatMap(refsIn), ...refsIn(shape.items as Param['shape'] | undefined)]
}
