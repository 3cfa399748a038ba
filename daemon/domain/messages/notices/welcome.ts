// Messages of the welcome bot to a new account: a greeting, and the organization's own text.

import type { Fact } from '../../facts.ts'
import type { MessageSent } from '../../model/facts/messages.ts'
import { systemBot } from '../../model/lookups.ts'
import { runsOf } from '../../model/message-store/id-set.ts'
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
  const runs = runsOf(sent.map(({ message }) => message.id))
  return [...sent, { type: 'message-flags.changed', userId: user.id, flag: 'starred', op: 'add', runs }]
}

export function fromWelcomeBot(ctx: Surroundings, user: User, content: string): MessageSent[] {
  return directNotice(ctx, [user.id], content, systemBot(ctx.state, 'welcome-bot'))
}

/** The organization's text as a quotation, so that it is not taken for the bot's own. */
export function customMessage(text: string): string {
  const fence = fenceAround(text)
  return `The administrators of this organization would like to share this with you:\n${fence}quote\n${text}\n${fence}`
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
