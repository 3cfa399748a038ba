// Markdown to HTML, and what a text does besides being shown: whom it mentions, what it links. HTML in the source is
// always escaped.

import type { Level } from '../../api/levels/level.ts'
import { limits } from '../limits.ts'
import { organizationSetting, userSetting } from '../model/settings.ts'
import type { Channel, Group, User } from '../model/state.ts'
import { invalid } from '../refusal.ts'
import { type Asker, accessUser, seeContent } from '../rules/index.ts'
import { knownUser } from '../rules/user-access.ts'
import { findChannel } from './descriptions.ts'
import { emojiInText } from './emoji-names.ts'
import { plainHtml } from './html.ts'
import { linkifiers } from './organization-content.ts'
import { toHtml } from './parser.ts'
import { Findings, type Mentioned, type RenderContext, type Upload } from './render-context.ts'
import { parseWidget, type Widget } from './widgets.ts'

export { escapeHtml } from '../values/escape.ts'
export { countFormatted, renderDescription } from './descriptions.ts'
export { topicLinks } from './topic-links.ts'

/** The newest message of a topic that the author can see. */
export type LatestMessage = (channelId: number, topic: string) => number | undefined

/** Where a text is posted, and what only the caller knows about that; null when it is not posted. */
export type RenderPlace = {
  readonly channel?: Channel
  readonly topic?: string
  readonly latestMessage?: LatestMessage
  /** An uploaded file that the author may see, by its path (`/user_uploads/…`). */
  readonly upload?: (path: string) => Upload | undefined
} | null

/** A command's context is one; links to the address of its server become relative. */
type Author = Asker & { readonly server?: { readonly url: string; readonly level: Level } }

export interface Mentions {
  /** Ascending; without silent mentions and those in quotes or code. */
  readonly userIds: readonly number[]
  /** Groups are not opened here. */
  readonly groupIds: readonly number[]
  readonly channelWildcard: boolean
  readonly topicWildcard: boolean
}

export interface Rendered {
  readonly html: string
  readonly mentions: Mentions
  /** Places that the text names. */
  readonly linkedChannelIds: readonly number[]
  readonly linkedMessageIds: readonly number[]
  readonly hasLink: boolean
  readonly hasImage: boolean
  readonly hasAttachment: boolean
  /** Paths of the uploaded files that the text links. */
  readonly uploads: readonly string[]
  readonly isMe: boolean
  /** For messages that begin with /poll or /todo. */
  readonly widget?: Widget
}

/** Renders the text of a message. One that would become too large is refused, or shown as it was written. */
export function render(
  author: Author,
  source: string,
  place: RenderPlace = null,
  ifTooLarge: 'refuse' | 'show-plain' = 'refuse',
): Rendered {
  let found = new Findings()
  let html = toHtml(source, { context: buildContext(author, place), findings: found, quoted: false, linked: false })
  if (html.length > limits.renderedContent) {
    if (ifTooLarge === 'refuse') throw invalid('content', 'is too large once rendered')
    found = new Findings()
    html = plainHtml(source)
  }
  const widget = parseWidget(source)
  return {
    html,
    mentions: {
      userIds: ascending(found.users),
      groupIds: ascending(found.groups),
      channelWildcard: found.channelWildcard,
      topicWildcard: found.topicWildcard,
    },
    linkedChannelIds: [...found.channels],
    linkedMessageIds: [...found.messages],
    hasLink: found.hasLink,
    hasImage: found.hasImage,
    hasAttachment: found.uploads.size > 0,
    uploads: [...found.uploads],
    isMe: source.startsWith('/me '),
    ...(widget && { widget }),
  }
}

function buildContext(author: Author, place: RenderPlace): RenderContext {
  const { state, actor } = author
  // Written out: spreading the common context took as long as a tenth of the rendering.
  return {
    user: once((name, id) => mentionedUser(author, name, id)),
    group: name => mentionedGroup(state.groups.find('name', name)),
    channel(name) {
      const channel = findChannel(state, name)
      return channel && seeContent.allows(author, channel) ? channel : undefined
    },
    latestMessage: latestOnce(place?.latestMessage),
    upload: place?.upload ?? (() => undefined),
    emoji: name => emojiInText(state, name),
    linkifiers: linkifiers(state),
    mentions: true,
    emoticons: userSetting(actor, 'translate_emoticons'),
    imagePreviews: organizationSetting(state, 'inline_image_preview'),
    codeLanguage: organizationSetting(state, 'default_code_block_language') ?? '',
    ownUrl: author.server?.url ?? '',
    rules: author.server?.level.rules,
  }
}

/** A text can spell one topic in a thousand ways, too. */
function latestOnce(find: LatestMessage = () => undefined): LatestMessage {
  const inLowerCase = once(find)
  return (channelId, topic) => inLowerCase(channelId, topic.toLowerCase())
}

/** Looks each thing up once: a text can name one a thousand times, and an answer can take a walk through channels or messages. */
function once<Given extends readonly unknown[], Found>(find: (...given: Given) => Found): (...given: Given) => Found {
  const known = new Map<string, Found>()
  return (...given) => {
    const key = JSON.stringify(given)
    if (!known.has(key)) known.set(key, find(...given))
    return known.get(key)!
  }
}

/** A user whom the author may know of. Of several with the name, the active one, then the oldest account. */
function mentionedUser(author: Author, name: string, id: number | undefined): Mentioned | undefined {
  const lower = name.toLowerCase()
  if (id !== undefined) {
    const user = knownUser(author, id)
    return user && (name === '' || user.fullName.toLowerCase() === lower) ? presentMentioned(user) : undefined
  }
  const namesakes = author.state.users.where('name', lower)
  const mayKnow = (user: User) => accessUser.allows(author, user)
  const user = namesakes.find(one => one.active && mayKnow(one)) ?? namesakes.find(mayKnow)
  return user && presentMentioned(user)
}

function presentMentioned({ id, fullName, active }: User): Mentioned {
  return { id, name: fullName, silent: !active }
}

const systemNames = new Map(
  Object.entries({
    'role:owners': 'Owners',
    'role:administrators': 'Administrators',
    'role:moderators': 'Moderators',
    'role:fullmembers': 'Full members',
    'role:members': 'Members',
    'role:everyone': 'Everyone',
    'role:internet': 'Everyone on the internet',
    'role:nobody': 'Nobody',
  }),
)

function mentionedGroup(group: Group | undefined): Mentioned | undefined {
  if (!group) return undefined
  return { id: group.id, name: systemNames.get(group.name) ?? group.name, silent: group.deactivated }
}

function ascending(ids: ReadonlySet<number>): number[] {
  return [...ids].sort((a, b) => a - b)
}
