// A small context for the renderer: a few people, groups, channels, emoji, linkifiers and files.

import { emojiInText } from '../../daemon/domain/markdown/emoji-names.ts'
import type { Linkifier } from '../../daemon/domain/markdown/organization-content.ts'
import { toHtml } from '../../daemon/domain/markdown/parser.ts'
import { Findings, type RenderContext } from '../../daemon/domain/markdown/render-context.ts'
import { State } from '../../daemon/domain/model/state.ts'

const state = new State()
const channels = [
  { id: 9, name: 'announce' },
  { id: 10, name: 'R&D (new) v1.0' },
]

/** Replaces the organization's patterns: a plain expression with the boundaries of the rule. */
export function linkifier(pattern: RegExp, url: (found: RegExpExecArray) => string): Linkifier {
  const bounded = new RegExp(`(?<![^\\s'"(,:<])(?:${pattern.source})(?![\\p{L}\\p{N}])`, 'gu')
  return {
    match: text =>
      [...text.matchAll(bounded)].map(found => ({
        start: found.index,
        end: found.index + found[0].length,
        url: url(found as RegExpExecArray),
      })),
  }
}

export const context: RenderContext = {
  user(name, id) {
    if (id !== undefined && id !== 12) return undefined
    if (name === '' ? id === 12 : name.toLowerCase() === 'amy adams')
      return { id: 12, name: 'Amy Adams', silent: false }
    return name === 'Gone Girl' ? { id: 13, name, silent: true } : undefined
  },
  group(name) {
    if (name === 'designers') return { id: 17, name, silent: false }
    return name === 'role:members' ? { id: 6, name: 'Members', silent: false } : undefined
  },
  channel: name => channels.find(channel => channel.name.toLowerCase() === name.toLowerCase()),
  latestMessage: (channelId, topic) => (channelId === 9 && topic === 'release' ? 214 : undefined),
  emoji: name =>
    name === 'party_parrot'
      ? { type: 'realm_emoji', code: '1', name, src: '/user_avatars/1/emoji/1.gif' }
      : emojiInText(state, name),
  upload(path) {
    if (path.endsWith('.png')) return { contentType: 'image/png', width: 80, height: 60 }
    if (path.endsWith('.mp4')) return { contentType: 'video/mp4' }
    return path.endsWith('.txt') ? { contentType: 'text/plain' } : undefined
  },
  linkifiers: [linkifier(/#(\d+)/, found => `https://bugs.example.com/${found[1]}`)],
  mentions: true,
  emoticons: false,
  imagePreviews: true,
  codeLanguage: '',
  ownUrl: 'https://chat.example.com',
}

export function rendering(source: string, changes: Partial<RenderContext> = {}): { html: string; findings: Findings } {
  const findings = new Findings()
  return {
    html: toHtml(source, { context: { ...context, ...changes }, findings, quoted: false, linked: false }),
    findings,
  }
}

/** For text that is one paragraph. */
export function paragraph(source: string, changes: Partial<RenderContext> = {}): string {
  const { html } = rendering(source, changes)
  if (!html.startsWith('<p>') || !html.endsWith('</p>')) throw new Error(`not one paragraph: ${html}`)
  return html.slice(3, -4)
}
