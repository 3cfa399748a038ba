// Mentions of people, groups and everyone, until the whole renderer takes them over.

import type { State, User } from '../state.ts'
import { escapeHtml } from './escape.ts'
import type { Mentions } from './index.ts'

const pattern = /(?<=^|[\s'"({[/<])@(_?)(?:\*\*([^*\n]{1,120})\*\*|\*([^*\n]{1,120})\*)/g
const wildcards = new Set(['all', 'everyone', 'channel', 'stream'])

export function findMentions(state: State, source: string): { html: string; mentions: Mentions } {
  if (!source.includes('@')) return { html: escapeHtml(source), mentions: nobody }
  const users = new Set<number>()
  const groups = new Set<number>()
  let channelWildcard = false
  let topicWildcard = false
  let html = ''
  let at = 0
  for (const match of source.matchAll(pattern)) {
    const silent = match[1] === '_'
    const name = match[2] ?? match[3]!
    const at_ = silent ? '' : '@'
    let mention: string | undefined
    if (match[3] !== undefined) {
      const group = state.groups.find('name', name)
      if (group) {
        if (!silent && !group.deactivated) groups.add(group.id)
        const quiet = silent || group.deactivated
        mention = `<span class="user-group-mention${quiet ? ' silent' : ''}" data-user-group-id="${group.id}">${quiet ? '' : '@'}${escapeHtml(group.name)}</span>`
      }
    } else if (wildcards.has(name) && !silent) {
      channelWildcard = true
      mention = `<span class="user-mention channel-wildcard-mention" data-user-id="*">@${name}</span>`
    } else if (name === 'topic' && !silent) {
      topicWildcard = true
      mention = '<span class="topic-mention">@topic</span>'
    } else {
      const user = userNamed(state, name)
      if (user) {
        const quiet = silent || !user.active
        if (!quiet) users.add(user.id)
        mention = `<span class="user-mention${quiet ? ' silent' : ''}" data-user-id="${user.id}">${quiet ? '' : at_}${escapeHtml(user.fullName)}</span>`
      }
    }
    if (mention === undefined) continue
    html += escapeHtml(source.slice(at, match.index)) + mention
    at = match.index + match[0].length
  }
  html += escapeHtml(source.slice(at))
  const mentions = { userIds: ascending(users), groupIds: ascending(groups), channelWildcard, topicWildcard }
  return { html, mentions }
}

const nobody: Mentions = { userIds: [], groupIds: [], channelWildcard: false, topicWildcard: false }

/** `Full Name`, `Full Name|12` or `|12`. */
function userNamed(state: State, written: string): User | undefined {
  const [, name, id] = /^(.*?)(?:\|(\d+))?$/.exec(written)!
  if (id !== undefined) {
    const user = state.users.get(Number(id))
    return name === '' || user?.fullName.toLowerCase() === name!.toLowerCase() ? user : undefined
  }
  for (const user of state.users.values()) if (user.fullName.toLowerCase() === name!.toLowerCase()) return user
  return undefined
}

function ascending(ids: ReadonlySet<number>): number[] {
  return [...ids].sort((a, b) => a - b)
}
