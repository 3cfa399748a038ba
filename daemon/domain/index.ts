// The domain's table of contents: every resource, and the facts they own.

import { events as eventsApi } from '../api/events.ts'
import { didYouMean } from '../local/did-you-mean.ts'
import { botStorage } from './bots/bot-storage.ts'
import { bots } from './bots/bots.ts'
import { webhooks } from './bots/webhooks/index.ts'
import { channelFolders } from './channels/channel-folders.ts'
import { channels } from './channels/channels/index.ts'
import { channelVisibility } from './channels/channels/visibility.ts'
import { defaultChannels } from './channels/default-channels/index.ts'
import { subscriptions } from './channels/subscriptions/index.ts'
import { topics } from './channels/topics/index.ts'
import type { ResourceFact } from './facts.ts'
import { uploads } from './files/uploads.ts'
import { drafts } from './messages/drafts.ts'
import { messageFlags } from './messages/message-flags/index.ts'
import { messages } from './messages/messages/index.ts'
import { reactions } from './messages/reactions.ts'
import { reminders } from './messages/reminders.ts'
import { savedSnippets } from './messages/saved-snippets.ts'
import { scheduledMessages } from './messages/scheduled-messages.ts'
import { typing } from './messages/typing.ts'
import type { State } from './model/state.ts'
import { customEmoji } from './organization/emoji.ts'
import { dataExports } from './organization/exports/index.ts'
import { linkifiers } from './organization/linkifiers.ts'
import { organization } from './organization/organization.ts'
import { pictures } from './organization/pictures.ts'
import { playgrounds } from './organization/playgrounds.ts'
import { server } from './organization/server.ts'
import { videoCalls } from './organization/video-calls.ts'
import { alertWords } from './people/alert-words.ts'
import { avatars } from './people/avatars.ts'
import { invitations } from './people/invitations/index.ts'
import { keys } from './people/keys.ts'
import { mutedUsers } from './people/muted-users.ts'
import { navigationViews } from './people/navigation-views.ts'
import { onboardingSteps } from './people/onboarding-steps.ts'
import { presence } from './people/presence.ts'
import { profileFields } from './people/profile-fields/index.ts'
import { pushDevices } from './people/push-devices.ts'
import { settings } from './people/settings/index.ts'
import { userGroups } from './people/user-groups/index.ts'
import { userStatus } from './people/user-status.ts'
import { users } from './people/users/index.ts'
import { missing } from './refusal.ts'
import { type Announcement, type AnyResource, type Ownership, resource } from './resource.ts'

/** Answered by the queues themselves; here so that their endpoints have a route. */
const events = resource(eventsApi)<never>({ commands: {}, apply: {}, announce: {} })

const everyResource = [
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
  pushDevices,
  linkifiers,
  playgrounds,
  videoCalls,
  customEmoji,
  pictures,
  dataExports,
  invitations,
  keys,
  avatars,
  bots,
  botStorage,
  profileFields,
  typing,
  savedSnippets,
  navigationViews,
  onboardingSteps,
  drafts,
  scheduledMessages,
  reminders,
  uploads,
  messages,
  messageFlags,
  reactions,
  webhooks,
  events,
] as const

/**
 * A fact that no resource applies, or two, is a type error here, with its name: Type 'boolean' does not satisfy the expected
 * type '{ withoutOwner: "draft.edited"; withTwoOwners: never }'. `test/domain/facts.test.ts` shows both.
 */
true satisfies Ownership<ResourceFact['type'], typeof everyResource>

export const resources: readonly AnyResource[] = everyResource

/** The operation ID of the endpoint with this name: its ID, or its method and path. */
export function requireEndpoint(name: string, parameter = 'endpoint'): string {
  const endpoints = resources.flatMap(({ api }) => Object.values(api))
  const found = endpoints.find(({ id, method, path }) => name === id || name === `${method} ${path}`)
  if (found) return found.id
  const names = endpoints.flatMap(({ id, method, path }) => [id, `${method} ${path}`])
  throw missing(parameter, 'endpoint', name, { hint: didYouMean(name, names) })
}

// One lookup by the type of the fact, which comes from the journal as a text of its own each time: a start does this for
// every fact there is.
const applying = new Map<string, NonNullable<AnyResource['apply'][string]>>()
const announcing = new Map<string, NonNullable<AnyResource['announce'][string]>>()
for (const { apply, announce } of resources)
  for (const type of Object.keys(apply)) {
    applying.set(type, apply[type]!)
    announcing.set(type, announce[type]!)
  }

export function applyFact(state: State, fact: ResourceFact): void {
  const apply = applying.get(fact.type)
  // Only a journal can hold one: it was written by another version, or by hand.
  if (!apply) throw new Error(`this version knows no facts of the kind ${fact.type}`)
  apply(state, fact)
}

export function announceFact(state: State, fact: ResourceFact): readonly Announcement[] {
  return announcing.get(fact.type)!(state, fact)
}
