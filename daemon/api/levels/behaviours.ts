// Behaviours of servers of the API family that change at a level. The code asks for these by name, never for a level.

export interface Behaviour {
  readonly since: number
  /** What a client sees, as a sentence. */
  readonly about: string
  /** Something that clients rely on is different or gone. */
  readonly breaks?: true
  /** IDs of the endpoints and types of the events that it shows in; without both, it concerns every client. */
  readonly endpoints?: readonly string[]
  readonly events?: readonly string[]
}

export const behaviours = {
  deactivationToldInArchived: {
    since: 428,
    about: 'When an account is deactivated, peer_remove events are sent for archived channels too.',
    events: ['subscription'],
  },
  importedStubsShown: {
    since: 433,
    about: 'Users have is_imported_stub.',
    endpoints: ['get-users', 'get-user', 'get-user-by-email', 'get-own-user', 'register-queue'],
    events: ['realm_user'],
  },
  channelNoticesChosen: {
    since: 434,
    about: 'Notices about new and changed channels are posted only if send_channel_events_messages is on.',
    breaks: true,
    endpoints: ['create-channel', 'subscribe', 'update-stream'],
    events: ['message'],
  },
  strangersLeftOut: {
    since: 437,
    about: 'GET /users leaves out users that a limited guest cannot access; it had stand-ins for them.',
    breaks: true,
    endpoints: ['get-users'],
  },
  imagesInMarkdown: {
    since: 437,
    about: 'Markdown image syntax shows images; links to images have a preview as before.',
    endpoints: ['send-message', 'update-message', 'render-message'],
    events: ['message', 'update_message'],
  },
  topicCreationLimited: {
    since: 441,
    about:
      'Channels have can_create_topic_group; in a channel with protected history it must be role:everyone. It counts for messages that are moved too.',
    endpoints: ['get-streams', 'get-stream-by-id', 'get-subscriptions', 'register-queue'],
    events: ['stream', 'subscription'],
  },
  avatarDeletedOnce: {
    since: 443,
    about: 'DELETE /users/me/avatar without an avatar changes nothing.',
    endpoints: ['delete-avatar'],
  },
  anchorByDate: {
    since: 445,
    about: 'GET /messages takes anchor=date with anchor_date.',
    endpoints: ['get-messages', 'update-message-flags-for-narrow'],
  },
  mentionsNarrow: {
    since: 446,
    about: 'Narrows have the operator mentions, with a user.',
    endpoints: ['get-messages', 'update-message-flags-for-narrow', 'check-messages-match-narrow'],
  },
  channelAddressForPosters: {
    since: 448,
    about: 'Only people who may post in a channel get its email address.',
    breaks: true,
    endpoints: ['get-stream-email-address'],
  },
  wrongTimesAreText: {
    since: 451,
    about: 'A global time that is invalid is shown as it is written, not as an error.',
    endpoints: ['send-message', 'update-message', 'render-message'],
    events: ['message', 'update_message'],
  },
  retentionTold: {
    since: 452,
    about: 'Messages that a retention policy deletes send delete_message.',
    events: ['delete_message'],
  },
  gifRatingsShared: {
    since: 453,
    about: 'The ratings of GIFs are disabled, g, pg, pg-13 and r, numbered from 0.',
    breaks: true,
    endpoints: ['update-realm'],
  },
  botsInPeopleQuestions: {
    since: 458,
    about: 'Subscriptions and group membership of bots can be asked for.',
    endpoints: ['get-subscription-status', 'get-is-user-group-member'],
  },
  descriptionRendered: {
    since: 462,
    about: 'The realm event about a new description has rendered_description.',
    events: ['realm'],
  },
  descriptionInOneObject: {
    since: 464,
    about: 'The realm event about a new description is an update_dict.',
    breaks: true,
    events: ['realm'],
  },
  botAddressTold: { since: 461, about: 'A new address of a bot sends realm_bot/update.', events: ['realm_bot'] },
  imagesOfUploadsOnly: {
    since: 467,
    about: 'Markdown image syntax shows uploaded images only.',
    endpoints: ['send-message', 'update-message', 'render-message'],
    events: ['message', 'update_message'],
  },
  avatarsDrawn: {
    since: 468,
    about: 'In a new organization, default_avatar_source is J: accounts without a picture have a Jdenticon.',
    endpoints: ['create-user', 'get-users', 'get-user', 'get-own-user', 'register-queue', 'delete-avatar'],
    events: ['realm_user'],
  },
  statusesByAdminBots: {
    since: 473,
    about: 'Bots that are administrators may set the status of others.',
    endpoints: ['update-status-for-user'],
  },
  joinedAtFirstLogin: {
    since: 475,
    about:
      'The date_joined of an account that POST /users created moves to its first login, and realm_user/update says so.',
    endpoints: ['create-user', 'get-users', 'get-user', 'fetch-api-key', 'dev-fetch-api-key'],
    events: ['realm_user'],
  },
  paragraphsInSummary: {
    since: 476,
    about: 'Profile fields of long text can be in the summary.',
    endpoints: ['create-custom-profile-field', 'update-custom-profile-field'],
  },
  archivedChannelsReadable: {
    since: 480,
    about: 'Details, subscribers and topics of archived channels can be read.',
    endpoints: ['get-stream-by-id', 'get-stream-topics', 'get-subscribers'],
  },
  pairsRenumbered: {
    since: 482,
    about: 'The recipient_id of messages between two users has another value.',
    breaks: true,
    endpoints: ['get-messages', 'get-message'],
    events: ['message'],
  },
  archivedChannelsNarrow: {
    since: 489,
    about: 'Narrows have channels:archived.',
    endpoints: ['get-messages', 'update-message-flags-for-narrow', 'check-messages-match-narrow'],
  },
  discordShown: {
    since: 488,
    about: 'The authentication methods of GET /server_settings have discord.',
    endpoints: ['get-server-settings'],
  },
  storageForBotsOnly: {
    since: 494,
    about: 'Only bots may call the endpoints of bot storage.',
    breaks: true,
    endpoints: ['get-bot-storage', 'update-bot-storage', 'remove-bot-storage'],
  },
  movFilesAreVideos: {
    since: 495,
    about: 'Links to .mov files have a player.',
    endpoints: ['send-message', 'update-message'],
    events: ['message', 'update_message'],
  },
  groupsOpenToBots: {
    since: 496,
    about: 'Bots may call the endpoints of user groups.',
    endpoints: ['get-user-groups', 'create-user-group', 'update-user-group', 'deactivate-user-group'],
  },
  timesInIsoOnly: {
    since: 503,
    about: 'Global times are recognized in the forms of ISO 8601 only.',
    breaks: true,
    endpoints: ['send-message', 'update-message', 'render-message'],
  },
  oldTopicsMovedInPart: {
    since: 505,
    about:
      'With change_all, PATCH /messages/{message_id} answers MOVE_MESSAGES_TIME_LIMIT_EXCEEDED also when the message itself is too old, as long as one message of the topic is not.',
    endpoints: ['update-message'],
  },
  pushChosenByChannel: {
    since: 507,
    about: 'Channels have default_push_notifications.',
    endpoints: ['get-streams', 'get-stream-by-id', 'get-subscriptions', 'register-queue'],
    events: ['stream', 'subscription'],
  },
  messageLinksInReply: {
    since: 508,
    about: 'The reply of POST /messages has message_url and message_link.',
    endpoints: ['send-message'],
  },
  sameChannelIsNoMove: {
    since: 509,
    about: 'PATCH /messages/{message_id} with the stream_id of the channel where the message is moves nothing.',
    endpoints: ['update-message'],
  },
} as const satisfies Readonly<Record<string, Behaviour>>

export type Behaviours = Readonly<Record<keyof typeof behaviours, boolean>>

export function behavioursAt(level: number): Behaviours {
  return Object.fromEntries(
    Object.entries(behaviours).map(([name, { since }]) => [name, level >= since]),
  ) as unknown as Behaviours
}
