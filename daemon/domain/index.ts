// The domain's table of contents: every resource, and the facts they own.

import { events as eventsApi } from '../api/events.ts'
import { alertWords } from './alert-words.ts'
import { avatars } from './avatars.ts'
import { botStorage } from './bot-storage.ts'
import { bots } from './bots/index.ts'
import { channelFolders } from './channel-folders.ts'
import { channelVisibility } from './channel-visibility.ts'
import { channels } from './channels/index.ts'
import { customEmoji } from './custom-emoji.ts'
import { defaultChannels } from './default-channels.ts'
import { drafts } from './drafts.ts'
import type { Fact } from './facts.ts'
import { invitations } from './invitations.ts'
import { keys } from './keys.ts'
import { linkifiers } from './linkifiers.ts'
import { messageFlags } from './message-flags.ts'
import { messages } from './messages/index.ts'
import { mutedUsers } from './muted-users.ts'
import { navigationViews } from './navigation-views.ts'
import { organization } from './organization/index.ts'
import { playgrounds } from './playgrounds.ts'
import { presence } from './presence.ts'
import { profileFields } from './profile-fields/index.ts'
import { reactions } from './reactions.ts'
import { reminders } from './reminders.ts'
import { type Announcement, type AnyResource, resource } from './resource.ts'
import { savedSnippets } from './saved-snippets.ts'
import { scheduledMessages } from './scheduled-messages.ts'
import { server } from './server.ts'
import { settings } from './settings/index.ts'
import type { State } from './state.ts'
import { subscriptions } from './subscriptions/index.ts'
import { typing } from './typing.ts'
import { uploads } from './uploads.ts'
import { userGroups } from './user-groups/index.ts'
import { userStatus } from './user-status.ts'
import { topics } from './user-topics.ts'
import { users } from './users/index.ts'
import { webhooks } from './webhooks/index.ts'

/** Answered by the queues themselves; here so that their endpoints have a route. */
const events = resource(eventsApi)<never>({ commands: {}, apply: {}, announce: {} })

export const resources: readonly AnyResource[] = [
  organization,
  server,
  users,
  channels,
  channelVisibility,
  subscriptions,
  defaultChannels,
  topics,
  channelFolders,
  userGroups,
  settings,
  presence,
  userStatus,
  mutedUsers,
  alertWords,
  linkifiers,
  playgrounds,
  customEmoji,
  invitations,
  keys,
  avatars,
  bots,
  botStorage,
  profileFields,
  typing,
  savedSnippets,
  navigationViews,
  drafts,
  scheduledMessages,
  reminders,
  uploads,
  messages,
  messageFlags,
  reactions,
  webhooks,
  events,
]

const owners = new Map<string, AnyResource>()
for (const resource of resources) for (const type of Object.keys(resource.apply)) owners.set(type, resource)

export function applyFact(state: State, fact: Fact): void {
  owners.get(fact.type)!.apply[fact.type]!(state, fact)
}

export function announceFact(state: State, fact: Fact): readonly Announcement[] {
  return owners.get(fact.type)!.announce[fact.type]!(state, fact)
}
