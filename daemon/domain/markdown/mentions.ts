// `@**person**`, `@*group*` and the wildcards.

import type { StateInline } from 'markdown-it'
import { element, escapeText } from './html.ts'
import { envOf, matchAt, pushHtml } from './inline.ts'
import type { Env } from './render-context.ts'

const channelWildcards = new Set(['all', 'everyone', 'channel', 'stream'])
const person = /@(_?)\*\*((?:[^*\n]|\*(?!\*))+)\*\*/y
const group = /@(_?)\*([^*\n]+)\*(?!\*)/y

export function mention(state: StateInline): boolean {
  const { src, pos } = state
  if (src[pos] !== '@') return false
  const env = envOf(state)
  if (!env.context.mentions || (pos > 0 && !/[\s'"({[/<]/.test(src[pos - 1]!))) return false
  return write(state, matchAt(person, state), personHtml) || write(state, matchAt(group, state), groupHtml)
}

type Html = (env: Env, name: string, silent: boolean) => string | undefined

function write(state: StateInline, found: RegExpExecArray | null, html: Html): boolean {
  if (!found) return false
  const env = envOf(state)
  const written = html(env, found[2]!, found[1] === '_' || env.quoted)
  if (written === undefined) state.pos = found.index
  else pushHtml(state, written)
  return written !== undefined
}

function personHtml(env: Env, text: string, silent: boolean): string | undefined {
  if (channelWildcards.has(text)) {
    if (!silent) env.findings.channelWildcard = true
    return span('user-mention channel-wildcard-mention', silent, { 'data-user-id': '*' }, text)
  }
  if (text === 'topic') {
    if (!silent) env.findings.topicWildcard = true
    return span('topic-mention', silent, {}, text)
  }
  const [, name = text, id] = /^(.*)\|(\d{1,15})$/.exec(text) ?? []
  const user = env.context.user(name, id === undefined ? undefined : Number(id))
  if (!user) return undefined
  if (!silent && !user.silent) env.findings.users.add(user.id)
  return span('user-mention', silent || user.silent, { 'data-user-id': user.id }, user.name)
}

function groupHtml(env: Env, text: string, silent: boolean): string | undefined {
  const found = env.context.group(text)
  if (!found) return undefined
  if (!silent && !found.silent) env.findings.groups.add(found.id)
  return span('user-group-mention', silent || found.silent, { 'data-user-group-id': found.id }, found.name)
}

function span(kind: string, silent: boolean, data: Readonly<Record<string, string | number>>, name: string): string {
  return element(
    'span',
    { class: silent ? `${kind} silent` : kind, ...data },
    `${silent ? '' : '@'}${escapeText(name)}`,
  )
}
