// The values in the curl lines of the reference: with them each line works on a daemon of `natter daemon start --memory --preset dev`. A test
// sends every one. Values by name of the parameter, and by route where a route wants another.

export interface Sample {
  /** Besides the required parameters, those that the call needs to do something. */
  readonly with?: Readonly<Record<string, unknown>>
  /** Routes to call before, because the preset has nothing to call this one with. */
  readonly first?: readonly string[]
  /** What has to be put in, or how the daemon must be started. Such a line is not sent by the test. */
  readonly needs?: string
}

/** A time that no clock has reached. */
const later = 2_000_000_000

export const byName: Readonly<Record<string, unknown>> = {
  anchor: 'newest',
  bot_id: 10,
  channel_folder_id: 1,
  content: 'Hello!',
  description: 'For new colleagues',
  document: 'DOCUMENT',
  email: 'amy@example.com',
  emoji_name: 'tada',
  field_id: 1,
  flag: 'starred',
  fragment: 'inbox',
  full_name: 'Zoe Zimmer',
  group_name: 'newcomers',
  invitee_emails: 'zoe@example.com',
  message_id: 3,
  muted_user_id: 5,
  name: 'lunch',
  password: 'correct horse battery',
  pattern: '#(?P<id>[0-9]+)',
  property: 'color',
  pygments_language: 'Python',
  stream: 'general',
  stream_names: ['random'],
  subscribers: [5, 6],
  title: 'Greeting',
  to: [5],
  topic: 'hello',
  topic_name: 'hello',
  url_template: 'https://example.com/issues/{id}',
  user: 'amy',
  user_group_id: 9,
  user_id: 5,
  user_id_or_email: 'amy@example.com',
  username: 'amy@example.com',
}

const device = 'a1b2c3'
const file = 'the address of an upload: `natter uploads list` has it'
const picture = 'a picture: PNG, JPEG, GIF or WebP'
const token = 'the token of the link in the mail: `natter outbox` shows it'

export const byRoute: Readonly<Record<string, Sample>> = {
  'POST /users': { with: { email: 'zoe@example.com' } },
  'PATCH /users/{user_id}': { with: { full_name: 'Amy Ash' } },
  'PATCH /users/{email}': { with: { full_name: 'Amy Ash' } },
  'DELETE /users/me': { needs: 'another owner: the last one cannot leave' },
  'POST /users/{user_id}/reactivate': { first: ['DELETE /users/{user_id}'] },
  'POST /fetch_api_key': { first: ['POST /users'], with: { username: 'zoe@example.com' } },
  'POST /messages': { with: { to: ['amy@example.com'] } },
  'GET /messages': { with: { anchor: 'newest', num_before: 10, num_after: 0 } },
  'PATCH /messages/{message_id}': { with: { topic: 'welcome' } },
  'GET /messages/matches_narrow': { with: { msg_ids: [2, 3], narrow: [['channel', 'general']] } },
  'GET /messages/{message_id}/read_receipts': { needs: 'an organization with `enable_read_receipts`' },
  'POST /messages/{message_id}/report': { needs: 'an organization with a channel for reports' },
  'POST /messages/{message_id}/typing': { first: ['POST /messages'], with: { message_id: 12 } },
  'POST /submessage': {
    with: { msg_type: 'widget', content: '{"type":"question","question":"Lunch?"}' },
    needs: 'a message with a poll of yours',
  },
  'POST /messages/flags': { with: { messages: [2, 3] } },
  'DELETE /messages/{message_id}/reactions': {
    first: ['POST /messages/{message_id}/reactions'],
    with: { emoji_name: 'tada' },
  },
  'PATCH /user_groups/{user_group_id}': { with: { description: 'People of the server' } },
  'POST /user_groups/{user_group_id}/deactivate': { with: { user_group_id: 10 } },
  'POST /user_groups/{user_group_id}/members': { with: { add: [7] } },
  'POST /user_groups/{user_group_id}/subgroups': {
    with: { add: [10] },
    needs: 'a group that does not hold this one already',
  },
  'POST /zcommand': { with: { command: '/ping' } },
  'POST /settings/email/confirm': { needs: token },
  'GET /users/{user_id_or_email}/presence': {
    first: ['POST /users/me/presence'],
    with: { user_id_or_email: 'owner@example.com' },
  },
  'POST /users/me/status': { with: { status_text: 'At lunch' } },
  'POST /users/{user_id}/status': { with: { status_text: 'At lunch' } },
  'DELETE /users/me/muted_users/{muted_user_id}': { first: ['POST /users/me/muted_users/{muted_user_id}'] },
  'POST /users/me/apns_device_token': { with: { token: device, appid: 'org.example.chat' } },
  'DELETE /users/me/apns_device_token': { first: ['POST /users/me/apns_device_token'], with: { token: device } },
  'POST /users/me/android_gcm_reg_id': { with: { token: device } },
  'DELETE /users/me/android_gcm_reg_id': { first: ['POST /users/me/android_gcm_reg_id'], with: { token: device } },
  'PATCH /realm/filters/{filter_id}': { first: ['POST /realm/filters'] },
  'DELETE /realm/filters/{filter_id}': { first: ['POST /realm/filters'] },
  'PATCH /realm/linkifiers': { first: ['POST /realm/filters'] },
  'POST /realm/playgrounds': { with: { url_template: 'https://play.example.com/?code={code}' } },
  'DELETE /realm/playgrounds/{playground_id}': { first: ['POST /realm/playgrounds'] },
  'POST /realm/domains': { with: { domain: 'example.org' } },
  'PATCH /realm/domains/{domain}': { first: ['POST /realm/domains'], with: { domain: 'example.org' } },
  'DELETE /realm/domains/{domain}': { first: ['POST /realm/domains'], with: { domain: 'example.org' } },
  'DELETE /export/realm/{export_id}': { needs: 'the ID of an export that is complete: `GET /export/realm` lists them' },
  'POST /realm/emoji/{emoji_name...}': { with: { emoji_name: 'parrot' }, needs: picture },
  'DELETE /realm/emoji/{emoji_name...}': { with: { emoji_name: 'parrot' }, needs: 'a custom emoji' },
  'POST /invites/accept': { needs: token },
  'DELETE /invites/{invite_id}': { first: ['POST /invites'] },
  'DELETE /invites/multiuse/{invite_id}': { first: ['POST /invites/multiuse'] },
  'POST /invites/{invite_id}/resend': { first: ['POST /invites'] },
  'POST /bots': { with: { short_name: 'builds', full_name: 'Builds' } },
  'PATCH /bots/{bot_id}': { with: { full_name: 'Deployer' } },
  'POST /external/{integration}': {
    with: { integration: 'json', api_key: 'API_KEY' },
    needs: 'the API key of an incoming webhook bot',
  },
  'POST /webhook_deliveries/{delivery_id}/redeliver': { needs: 'the ID of a delivery: `natter webhooks list` has it' },
  'POST /dev_fetch_api_key': { needs: 'a daemon with `--dev-auth`' },
  'GET /dev_list_users': { needs: 'a daemon with `--dev-auth`' },
  'POST /users/me/avatar': { needs: picture },
  'POST /realm/icon': { needs: picture },
  'POST /realm/logo': { needs: picture },
  'POST /realm/profile_fields': { with: { name: 'Room' } },
  'PATCH /realm/profile_fields/{field_id}': { first: ['POST /realm/profile_fields'], with: { name: 'Office' } },
  'DELETE /realm/profile_fields/{field_id}': { first: ['POST /realm/profile_fields'] },
  'PATCH /users/me/profile_data': { first: ['POST /realm/profile_fields'], with: { data: [{ id: 1, value: '2.17' }] } },
  'DELETE /users/me/profile_data': { first: ['POST /realm/profile_fields'] },
  'POST /typing': { with: { to: [5] } },
  'DELETE /users/me/subscriptions': { with: { subscriptions: ['general'] } },
  'PATCH /users/me/subscriptions': { with: { add: [{ name: 'random' }] } },
  'POST /users/me/subscriptions': { with: { subscriptions: [{ name: 'lunch' }] } },
  'POST /users/me/subscriptions/properties': {
    with: { subscription_data: [{ stream_id: 1, property: 'color', value: '#c2726a' }] },
  },
  'PATCH /users/me/subscriptions/{stream_id}': { with: { value: '#c2726a' } },
  'PATCH /default_stream_groups/{group_id}': {
    first: ['POST /default_stream_groups/create'],
    with: { new_group_name: 'starters' },
  },
  'PATCH /default_stream_groups/{group_id}/streams': {
    first: ['POST /default_stream_groups/create'],
    with: { stream_names: ['engineering'] },
  },
  'DELETE /default_stream_groups/{group_id}': { first: ['POST /default_stream_groups/create'] },
  'PATCH /users/me/subscriptions/muted_topics': { with: { stream_id: 1 } },
  'PATCH /channel_folders/{channel_folder_id}': { first: ['POST /channel_folders/create'], with: { name: 'Teams' } },
  'DELETE /saved_snippets/{saved_snippet_id}': { first: ['POST /saved_snippets'] },
  'PATCH /saved_snippets/{saved_snippet_id}': { first: ['POST /saved_snippets'], with: { title: 'Welcome' } },
  'PATCH /navigation_views/{fragment...}': { first: ['POST /navigation_views'], with: { is_pinned: false } },
  'DELETE /navigation_views/{fragment...}': { first: ['POST /navigation_views'] },
  'POST /users/me/onboarding_steps': { with: { onboarding_step: 'intro_inbox_view_modal' } },
  'PATCH /drafts/{draft_id}': { first: ['POST /drafts'], with: { draft: draft('Soup?') } },
  'DELETE /drafts/{draft_id}': { first: ['POST /drafts'] },
  'POST /drafts': { with: { drafts: [draft('Pizza?')] } },
  'POST /scheduled_messages': { with: { type: 'direct', scheduled_delivery_timestamp: later } },
  'PATCH /scheduled_messages/{scheduled_message_id}': {
    first: ['POST /scheduled_messages'],
    with: { content: 'Hello again!' },
  },
  'DELETE /scheduled_messages/{scheduled_message_id}': { first: ['POST /scheduled_messages'] },
  'POST /reminders': { with: { message_id: 3, scheduled_delivery_timestamp: later } },
  'DELETE /reminders/{reminder_id}': { first: ['POST /reminders'] },
  'GET /user_uploads/{realm_id_str}/{filename...}': { needs: file },
  'GET /thumbnail/status/{realm_id_str}/{filename...}': { needs: file },
  'DELETE /attachments/{attachment_id}': { first: ['POST /user_uploads'] },
  'DELETE /events': { needs: 'the `queue_id` that `POST /register` returned' },
  'GET /events': {
    with: { queue_id: 'QUEUE_ID', last_event_id: -1 },
    needs: 'the `queue_id` that `POST /register` returned',
  },
  'POST /clock/set': { with: { to: '2033-05-18T03:33:20Z' } },
  'GET /snapshots/{name}/file': { first: ['POST /snapshots'] },
  'GET /snapshots/{name}/seed': { first: ['POST /snapshots'] },
  'POST /snapshots/{name}/file': { needs: 'the text of a snapshot file' },
  'POST /snapshots': { with: { name: 'before' } },
  'GET /snapshots/diff': { first: ['POST /snapshots'], with: { from: 'before' } },
  'POST /snapshots/{name}/restore': { first: ['POST /snapshots'] },
  'DELETE /snapshots/{name}': { first: ['POST /snapshots'] },
  'POST /spaces': { with: { name: 'worker-1' } },
  'GET /spaces/{name}': { first: ['POST /spaces'] },
  'DELETE /spaces/{name}': { first: ['POST /spaces'] },
  'GET /requests/{id}': { first: ['GET /users/me'] },
  'GET /findings': { needs: 'a daemon with `--strict`' },
  'POST /requests/wait': { first: ['GET /users/me'], with: { endpoint: 'GET /users/me', since: 0 } },
  'POST /wait': { first: ['POST /messages'], with: { event: { type: 'message' } } },
  'POST /queues/wait': { needs: 'a client of this account that polls' },
  'GET /live': { needs: 'an event or a call that comes meanwhile' },
  'POST /webhooks/wait': { needs: 'an outgoing webhook bot that is called meanwhile' },
  'GET /why': { with: { message: 3, user: 'amy' } },
  'GET /recording': { needs: 'Ctrl-C, or `DELETE /recording`, to end it' },
}

/** Names of what a `first` route has made, in place of those by name. */
export const made: Readonly<Record<string, string>> = { '/snapshots/{name}': 'before', '/spaces/{name}': 'worker-1' }

function draft(content: string): object {
  return { type: 'stream', to: [1], topic: 'lunch', content }
}
