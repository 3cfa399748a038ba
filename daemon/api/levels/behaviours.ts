// Behaviours of servers of the API family that change at a level. The code asks for these by name, never for a level.

interface Behaviour {
  readonly since: number
  /** What a client sees, as a sentence. */
  readonly about: string
}

export const behaviours = {
  deactivationToldInArchived: {
    since: 428,
    about: 'When an account is deactivated, peer_remove events are sent for archived channels too.',
  },
  importedStubsShown: { since: 433, about: 'Users have is_imported_stub.' },
  channelNoticesChosen: {
    since: 434,
    about: 'Notices about new and changed channels are posted only if send_channel_events_messages is on.',
  },
  topicCreationLimited: { since: 441, about: 'Channels have can_create_topic_group.' },
  avatarDeletedOnce: {
    since: 443,
    about: 'DELETE /users/me/avatar without an avatar changes nothing.',
  },
  anchorByDate: { since: 445, about: 'GET /messages takes anchor=date with anchor_date.' },
  mentionsNarrow: { since: 446, about: 'Narrows have the operator mentions, with a user.' },
  channelAddressForPosters: {
    since: 448,
    about: 'Only people who may post in a channel get its email address.',
  },
  gifRatingsShared: { since: 453, about: 'The ratings of GIFs are disabled, g, pg, pg-13 and r, numbered from 0.' },
  botsInPeopleQuestions: {
    since: 458,
    about: 'Subscriptions and group membership of bots can be asked for.',
  },
  descriptionRendered: {
    since: 462,
    about: 'The realm event about a new description has rendered_description.',
  },
  descriptionInOneObject: {
    since: 464,
    about: 'The realm event about a new description is an update_dict.',
  },
  botAddressTold: { since: 461, about: 'A new address of a bot sends realm_bot/update.' },
  statusesByAdminBots: { since: 473, about: 'Bots that are administrators may set the status of others.' },
  paragraphsInSummary: { since: 476, about: 'Profile fields of long text can be in the summary.' },
  archivedChannelsReadable: {
    since: 480,
    about: 'Details, subscribers and topics of archived channels can be read.',
  },
  archivedChannelsNarrow: { since: 489, about: 'Narrows have channels:archived.' },
  discordShown: { since: 488, about: 'The authentication methods of GET /server_settings have discord.' },
  groupsOpenToBots: { since: 496, about: 'Bots may call the endpoints of user groups.' },
  pushChosenByChannel: { since: 507, about: 'Channels have default_push_notifications.' },
  messageLinksInReply: { since: 508, about: 'The reply of POST /messages has message_url and message_link.' },
} as const satisfies Readonly<Record<string, Behaviour>>

export type Behaviours = Readonly<Record<keyof typeof behaviours, boolean>>

export function behavioursAt(level: number): Behaviours {
  return Object.fromEntries(
    Object.entries(behaviours).map(([name, { since }]) => [name, level >= since]),
  ) as unknown as Behaviours
}
