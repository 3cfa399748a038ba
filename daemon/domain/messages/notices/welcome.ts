// Messages of the welcome bot: a greeting to a new account, the organization's own text, and replies to direct messages.

import type { Fact } from '../../facts.ts'
import type { MessageSent } from '../../model/facts/messages.ts'
import { findConversation, systemBot } from '../../model/lookups.ts'
import { packRuns } from '../../model/message-store/id-set.ts'
import { organizationSetting } from '../../model/settings.ts'
import type { User } from '../../model/state.ts'
import type { Surroundings } from '../../resource.ts'
import { isAdministrator } from '../../rules/index.ts'
import { fenceAround } from '../../values/text.ts'
import { directNotice } from './post.ts'

/** `text` replaces that of the organization. The messages are starred, so that the newcomer finds them again. */
export function welcomeMessages(ctx: Surroundings, user: User, text: string | null): Fact[] {
  const own = text ?? organizationSetting(ctx.state, 'welcome_message_custom_text')
  const sent = [
    ...fromWelcomeBot(ctx, user, greeting(ctx, user)),
    ...(own === '' ? [] : fromWelcomeBot(ctx, user, customMessage(own))),
  ]
  const runs = packRuns(sent.map(({ message }) => message.id))
  return [...sent, { type: 'message-flags.changed', userId: user.id, flag: 'starred', op: 'add', runs }]
}

export function fromWelcomeBot(ctx: Surroundings, user: User, content: string): MessageSent[] {
  return directNotice(ctx, [user.id], content, systemBot(ctx.state, 'welcome-bot'))
}

/** The organization's text as a quotation, so that it is not taken for the bot's own. */
export function customMessage(text: string): string {
  const fence = fenceAround(text)
  return `The administrators for this organization would also like to share the following information:\n${fence}quote\n${text}\n${fence}`
}

function greeting({ state }: Surroundings, user: User): string {
  const name = organizationSetting(state, 'name')
  const lines = [
    `Hello, and welcome to ${name}! 👋`,
    'Every message in a channel has a topic. Pick a channel, read what is new, and reply in the topic that it belongs to.',
    ...(isAdministrator(user) ? ['You are an administrator: you can invite others and change the settings.'] : []),
  ]
  return lines.join('\n\n')
}

/** What the bot explains, by the words that ask for it. */
const topics: readonly (readonly [words: readonly string[], text: string])[] = [
  [
    ['apps', 'app'],
    'Any client of a Zulip server works with this one: a browser, the mobile and desktop apps, a terminal.',
  ],
  [
    ['profile'],
    'Your profile has your name, your picture and the fields that this organization asks for. You can change them in your settings.',
  ],
  [['theme'], 'Your settings have a light and a dark theme, sets of emoji and the language.'],
  [
    ['channels', 'channel', 'streams', 'stream'],
    'A channel is for people who need to see the same conversations, such as a team. Subscribe to the channels that you want to follow.',
  ],
  [
    ['topics', 'topic'],
    'A topic says what a conversation is about, so that you can read one conversation at a time. Start a new conversation with a new topic.',
  ],
  [
    ['message formatting', 'formatting'],
    'Messages are written in Markdown: **bold**, *emphasis*, `code`, lists, quotes, spoilers, times and formulas.',
  ],
  [['keyboard shortcuts', 'keyboard', 'shortcuts'], 'Most apps show their keyboard shortcuts when you press `?`.'],
]

const known = topics.map(([[word]]) => `\`${word}\``).join(', ')
const commands = `${known}, \`help\`.`

/** How many of the newest messages of a conversation are searched for the list of commands. */
const lookBack = 100

/** The bot's reply to a message that it alone gets. What it does not understand gets the list of commands, once. */
export function replyAsWelcomeBot(
  ctx: Surroundings,
  sender: User,
  { message, conversation }: MessageSent,
): MessageSent[] {
  if (message.conversationId === undefined) return []
  const people = (conversation ?? ctx.state.conversations.get(message.conversationId)!).userIds
  const bot = people.length === 2 ? systemBot(ctx.state, 'welcome-bot') : undefined
  if (!bot || bot.id === sender.id || !people.includes(bot.id)) return []
  const asked = message.content.trim().toLowerCase()
  const explained = topics.find(([words]) => words.includes(asked))?.[1]
  if (explained !== undefined) return fromWelcomeBot(ctx, sender, explained)
  if (asked === 'help' || asked === '?') return fromWelcomeBot(ctx, sender, `I understand these messages: ${known}.`)
  if (hasListed(ctx, people, bot)) return []
  return fromWelcomeBot(
    ctx,
    sender,
    `You can write to me as much as you like. For help, send one of these: ${commands}`,
  )
}

function hasListed({ state }: Surroundings, people: readonly number[], bot: User): boolean {
  const conversation = findConversation(state, people)
  const ids = conversation ? state.messages.inConversation(conversation.id) : undefined
  const newest = ids?.length ?? 0
  for (let i = newest - 1; i >= Math.max(0, newest - lookBack); i--) {
    const id = ids!.at(i)
    if (state.messages.sender(id) === bot.id && state.messages.content(id).includes(commands)) return true
  }
  return false
}
