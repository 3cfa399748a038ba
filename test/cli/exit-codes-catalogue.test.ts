// Exit codes over the whole catalogue: for every endpoint, what ends with 3 (not found) and with 4 (not permitted). An endpoint
// that is in neither a table nor a list of exceptions fails the test.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { exitCodes } from '../../cli/base/failure.ts'
import { endpointAt } from '../../daemon/api/levels/endpoint-at.ts'
import { defaultLevel } from '../../daemon/api/levels/releases.ts'
import { catalogueEndpoints } from '../support/catalogue.ts'
import { inProcess } from '../support/cli-in-process.ts'
import { Caller, sharedDaemon } from '../support/daemon.ts'
import { pixel } from '../support/images.ts'
import { person } from '../support/world.ts'

const endpoints = (await catalogueEndpoints())
  .map(({ endpoint }) => endpoint)
  .filter(({ served }) => served !== 'outgoing')

const daemon = sharedDaemon()
/** For endpoints that the default level does not have. */
const newest = sharedDaemon({ flags: ['--level', 'latest'] })
const folder = mkdtempSync(join(tmpdir(), 'natter-exit-'))
const picture = join(folder, 'picture.png')
const linkifier = ['#(?P<id>[0-9]+)', 'https://example.com/{id}']
const zoe = 'zoe@example.com'
const none = 'id:999999'
const number = '999999'

/** Words after the name of the subcommand; `MESSAGE`, `OWNER` and `BOT` stand for IDs of the test's own organization. */
type Line = readonly string[]

/** As the owner. */
const notFound: Readonly<Record<string, Line>> = {
  'get-user': [none],
  'get-user-by-email': [zoe],
  'update-user': [none, '--full-name', 'Zoe'],
  'update-user-by-email': [zoe, '--full-name', 'Zoe'],
  'deactivate-user': [none],
  'reactivate-user': [none],
  'send-message': ['#nowhere>x', 'Hello'],
  'get-messages': ['--narrow', 'channel:nowhere'],
  'get-message': [number],
  'update-message': [number, '--content', 'x'],
  'delete-message': [number],
  'get-message-history': [number],
  'check-messages-match-narrow': ['MESSAGE', '--narrow', 'channel:nowhere'],
  'get-read-receipts': [number],
  'report-message': [number, 'spam'],
  'set-typing-status-for-message-edit': [number, 'start'],
  'add-submessage': [number, '{}', '--msg-type', 'widget'],
  'update-message-flags': ['add', 'starred', number],
  'update-message-flags-for-narrow': 'add read --anchor=newest --before=5 --after=0 --narrow channel:nowhere'.split(
    ' ',
  ),
  'mark-stream-as-read': [none],
  'mark-topic-as-read': ['#general>nothing'],
  'add-reaction': [number, 'tada'],
  'remove-reaction': ['MESSAGE', 'tada'],
  'create-user-group': ['others', '--description', 'x', '--members', none],
  'update-user-group': [none, '--name', 'x'],
  'deactivate-user-group': [none],
  'update-user-group-members': [none, '--add', 'me'],
  'get-user-group-members': [none],
  'get-is-user-group-member': [none, 'me'],
  'update-user-group-subgroups': [none, '--add', 'role:moderators'],
  'get-user-group-subgroups': [none],
  'confirm-email-change': ['nothing'],
  'accept-invite': ['nothing', 'Eve Evans', '--password', 'correct horse battery'],
  'get-user-presence': [zoe],
  'update-status-for-user': [none, 'x'],
  'get-user-status': [none],
  'mute-user': [none],
  'unmute-user': [none],
  'update-linkifier': [number, ...linkifier],
  'remove-linkifier': [number],
  'remove-code-playground': [number],
  'update-realm': ['--moderation-request-channel-id', number],
  'patch-realm-domain': ['nowhere.example', '--allow-subdomains'],
  'delete-realm-domain': ['nowhere.example'],
  'delete-realm-export': [number],
  'deactivate-custom-emoji': ['nothing'],
  'send-invites': ['eve@example.com', '--channels', none],
  'create-invite-link': ['--channels', none],
  'revoke-email-invite': [number],
  'revoke-invite-link': [number],
  'resend-email-invite': [number],
  'create-bot': ['other', 'Other', '--default-sending-stream', 'nowhere'],
  'update-bot': [none, '--full-name', 'X'],
  'deactivate-bot': [none],
  'get-bot-api-key': [none],
  'regenerate-bot-api-key': [none],
  'get-bot-storage': ['nothing'],
  'remove-bot-storage': ['nothing'],
  'get-webhook-deliveries': ['--bot', none],
  'redeliver-webhook': [number],
  'update-custom-profile-field': [none, '--hint', 'x'],
  'delete-custom-profile-field': [none],
  'update-profile-data': ['[{"id":999999,"value":"x"}]'],
  'set-typing-status': ['start', '--channel', none, '--topic', 'x'],
  'get-stream-by-id': [none],
  'get-stream-id': ['nowhere'],
  'create-channel': ['other', '--subscribers', none],
  'update-stream': [none, '--description', 'x'],
  'archive-stream': [none],
  'get-subscribers': [none],
  'get-stream-email-address': [none],
  subscribe: ['general', '--to', zoe],
  unsubscribe: ['nowhere'],
  'update-subscriptions': ['--delete', 'nowhere'],
  'get-subscription-status': ['me', none],
  'get-user-channels': [none],
  'update-subscription-settings': [
    '--subscription-data',
    '[{"stream_id":999999,"property":"pin_to_top","value":true}]',
  ],
  'update-subscription-property': [none, 'pin_to_top', 'true'],
  'add-default-stream': [none],
  'remove-default-stream': [none],
  'create-default-stream-group': ['starters', '--description', 'x', '--stream-names', 'nowhere'],
  'update-default-stream-group-info': [number, '--new-description', 'x'],
  'update-default-stream-group-streams': [number, 'add', 'general'],
  'delete-default-stream-group': [number],
  'get-stream-topics': [none],
  'update-user-topic': ['x', '--channel', none, '--policy', 'followed'],
  'mute-topic': ['add', 'x', '--channel', none],
  'delete-topic': ['x', '--channel', none],
  'update-channel-folder': [none, '--description', 'x'],
  'edit-saved-snippet': [none, '--title', 'x'],
  'delete-saved-snippet': [none],
  'mark-onboarding-step-as-read': ['nothing'],
  'edit-navigation-view': ['nothing', '--pinned'],
  'remove-navigation-view': ['nothing'],
  'create-drafts': ['[{"type":"private","to":[999999],"topic":"","content":"x"}]'],
  'edit-draft': [number, '{"type":"private","to":[],"topic":"","content":"x"}'],
  'delete-draft': [number],
  'create-scheduled-message': ['#nowhere>x', 'Hello', '--at', '+2h'],
  'update-scheduled-message': [number, '--content', 'x'],
  'delete-scheduled-message': [number],
  'create-message-reminder': [number, '--at', '+2h'],
  'delete-reminder': [number],
  'get-file-temporary-url': ['2', 'no/thing.txt'],
  'check-thumbnail-status': ['2', 'no/thing.png'],
  'remove-attachment': [number],
  'get-events': ['nothing', '--last-event-id=-1'],
  'delete-queue': ['nothing'],
  'remove-apns-token': ['abcd'],
  'remove-fcm-token': ['nothing'],
  'test-notify': ['--token', 'nothing'],
}

/** Nothing that the caller names can be absent: lists, new things, one's own settings. The owner of a webhook bot is told of an absent channel. */
const namesNothing =
  `get-server-settings get-users get-own-user create-user deactivate-own-user fetch-api-key render-message
  mark-all-as-read get-user-groups get-settings update-settings update-realm-user-settings-defaults update-presence
  get-presence update-status get-alert-words add-alert-words remove-alert-words get-linkifiers add-linkifier
  reorder-linkifiers add-code-playground get-realm deactivate-realm get-realm-domains add-realm-domain
  test-welcome-bot-custom-message export-realm get-realm-exports get-realm-export-consents get-custom-emoji upload-custom-emoji get-invites get-bots
  update-bot-storage post-webhook regenerate-api-key dev-fetch-api-key dev-list-users upload-avatar delete-avatar
  upload-realm-icon delete-realm-icon upload-realm-logo delete-realm-logo
  get-custom-profile-fields create-custom-profile-field reorder-custom-profile-fields remove-profile-data get-streams
  get-subscriptions get-channel-folders create-channel-folder patch-channel-folders get-saved-snippets
  create-saved-snippet get-navigation-views add-navigation-view get-drafts get-scheduled-messages get-reminders
  upload-file get-attachments register-queue add-apns-token add-fcm-token register-push-device
  create-big-blue-button-video-call run-slash-command`.split(/\s+/)

/** What the owner does before a call is denied. */
const settings: Readonly<Record<string, Line>> = {
  'get-message-history': ['--message-edit-history-visibility-policy', 'none'],
  'get-read-receipts': ['--no-enable-read-receipts'],
  'upload-avatar': ['--avatar-changes-disabled'],
  'delete-avatar': ['--avatar-changes-disabled'],
}

type Who = 'member' | 'guest' | 'bot' | 'owner'

const denied: Readonly<Record<string, readonly [Who, ...string[]]>> = {
  'create-user': ['member', 'dan@example.com', 'Dan'],
  'update-user': ['member', 'id:OWNER', '--full-name', 'X'],
  'update-user-by-email': ['member', 'owner@example.com', '--full-name', 'X'],
  'deactivate-user': ['member', 'id:OWNER'],
  'reactivate-user': ['member', 'id:OWNER'],
  'fetch-api-key': ['owner', 'owner@example.com'],
  'send-message': ['member', '#board>x', 'Hello'],
  'update-message': ['member', 'MESSAGE', '--content', 'x'],
  'delete-message': ['member', 'MESSAGE'],
  'get-message-history': ['member', 'MESSAGE'],
  'get-read-receipts': ['member', 'MESSAGE'],
  'add-submessage': ['member', 'MESSAGE', '{}', '--msg-type', 'widget'],
  'get-user-groups': ['guest'],
  'create-user-group': ['guest', 'x', '--description', 'x', '--members', 'me'],
  'update-user-group': ['member', 'team', '--description', 'x'],
  'deactivate-user-group': ['member', 'team'],
  'update-user-group-members': ['member', 'team', '--add', 'id:OWNER'],
  'get-user-group-members': ['guest', 'team'],
  'get-is-user-group-member': ['guest', 'team', 'me'],
  'update-user-group-subgroups': ['member', 'team', '--add', 'role:moderators'],
  'get-user-group-subgroups': ['guest', 'team'],
  'update-settings': ['bot', '--enter-sends'],
  'update-realm-user-settings-defaults': ['member', '--enter-sends'],
  'update-presence': ['bot', 'active'],
  'update-status': ['bot', 'x'],
  'update-status-for-user': ['member', 'id:OWNER', 'x'],
  'add-linkifier': ['member', ...linkifier],
  'update-linkifier': ['member', '1', ...linkifier],
  'remove-linkifier': ['member', '1'],
  'reorder-linkifiers': ['member', '1'],
  'add-code-playground': ['member', 'Python', 'python', 'https://example.com/{code}'],
  'remove-code-playground': ['member', '1'],
  'update-realm': ['member', '--description', 'x'],
  'deactivate-realm': ['member'],
  'test-welcome-bot-custom-message': ['member', 'Hello'],
  'export-realm': ['member'],
  'get-realm-exports': ['member'],
  'delete-realm-export': ['member', '1'],
  'get-realm-export-consents': ['member'],
  'add-realm-domain': ['member', 'example.net'],
  'patch-realm-domain': ['member', 'example.net', '--allow-subdomains'],
  'delete-realm-domain': ['member', 'example.net'],
  'upload-custom-emoji': ['guest', 'party', picture],
  'deactivate-custom-emoji': ['member', 'logo'],
  'get-invites': ['guest'],
  'send-invites': ['guest', 'eve@example.com', '--channels', 'id:1'],
  'create-invite-link': ['member'],
  'revoke-email-invite': ['guest', '1'],
  'revoke-invite-link': ['guest', '1'],
  'resend-email-invite': ['guest', '1'],
  'get-bots': ['guest'],
  'create-bot': ['guest', 'other', 'Other'],
  'update-bot': ['member', 'id:BOT', '--full-name', 'X'],
  'deactivate-bot': ['member', 'id:BOT'],
  'get-bot-api-key': ['member', 'id:BOT'],
  'regenerate-bot-api-key': ['member', 'id:BOT'],
  'post-webhook': ['owner', 'json', '{}', '--bot-key', 'x'.repeat(32)],
  'get-webhook-deliveries': ['guest'],
  'redeliver-webhook': ['guest', '1'],
  'dev-fetch-api-key': ['owner', 'owner@example.com'],
  'dev-list-users': ['owner'],
  'upload-realm-icon': ['member', picture],
  'delete-realm-icon': ['member'],
  'upload-realm-logo': ['member', picture],
  'delete-realm-logo': ['member'],
  'mark-onboarding-step-as-read': ['bot', 'intro_resolve_topic'],
  'upload-avatar': ['member', picture],
  'delete-avatar': ['member'],
  'create-custom-profile-field': ['member', 'Phone', '--type', '1'],
  'update-custom-profile-field': ['member', 'id:1', '--hint', 'x'],
  'reorder-custom-profile-fields': ['member', '1'],
  'delete-custom-profile-field': ['member', 'id:1'],
  'update-profile-data': ['bot', '[]'],
  'remove-profile-data': ['bot', '[]'],
  'set-typing-status': ['member', 'start', '--channel', 'board', '--topic', 'x'],
  'create-channel': ['guest', 'other', '--subscribers', 'me'],
  'update-stream': ['member', 'general', '--description', 'x'],
  'archive-stream': ['member', 'general'],
  subscribe: ['guest', 'general'],
  unsubscribe: ['member', 'general', '--to', 'id:OWNER'],
  'update-subscriptions': ['guest', '--add', '[{"name":"general"}]'],
  'add-default-stream': ['member', 'general'],
  'remove-default-stream': ['member', 'general'],
  'create-default-stream-group': ['member', 'starters', '--description', 'x', '--stream-names', 'general'],
  'update-default-stream-group-info': ['member', '1', '--new-description', 'x'],
  'update-default-stream-group-streams': ['member', '1', 'add', 'general'],
  'delete-default-stream-group': ['member', '1'],
  'delete-topic': ['member', '#general>lunch'],
  'create-channel-folder': ['member', 'x', 'x'],
  'patch-channel-folders': ['member', '1'],
  'update-channel-folder': ['member', 'id:1', '--description', 'x'],
  'create-scheduled-message': ['member', '#board>x', 'Hello', '--at', '+2h'],
  'register-queue': ['guest', '--all-public-streams'],
  'add-apns-token': ['bot', 'abcd', '--appid', 'x'],
  'remove-apns-token': ['bot', 'abcd'],
  'add-fcm-token': ['bot', 'x'],
  'remove-fcm-token': ['bot', 'x'],
  'test-notify': ['bot'],
  'register-push-device': [
    'bot',
    ...['--token-kind', 'fcm', '--push-account-id', '1', '--push-public-key', 'x'],
    ...['--bouncer-public-key', 'x', '--encrypted-push-registration', 'x'],
  ],
}

/** Open to every account, or what the caller may not see looks absent and ends with 3. */
const openToAll =
  `get-server-settings get-users get-user get-user-by-email get-own-user deactivate-own-user get-messages get-message
  render-message check-messages-match-narrow report-message set-typing-status-for-message-edit update-message-flags
  update-message-flags-for-narrow mark-all-as-read mark-stream-as-read mark-topic-as-read add-reaction remove-reaction
  get-settings confirm-email-change accept-invite get-user-presence get-presence get-user-status mute-user unmute-user
  get-alert-words add-alert-words remove-alert-words get-linkifiers get-realm get-realm-domains get-custom-emoji
  regenerate-api-key get-custom-profile-fields get-streams get-stream-by-id get-stream-id get-subscribers
  get-stream-email-address get-subscriptions get-subscription-status update-subscription-settings
  update-subscription-property get-stream-topics update-user-topic mute-topic get-channel-folders get-saved-snippets
  create-saved-snippet edit-saved-snippet delete-saved-snippet get-navigation-views add-navigation-view
  edit-navigation-view remove-navigation-view get-drafts create-drafts edit-draft delete-draft get-scheduled-messages
  update-scheduled-message delete-scheduled-message get-reminders create-message-reminder delete-reminder upload-file
  get-file-temporary-url get-attachments remove-attachment get-events delete-queue create-big-blue-button-video-call
  run-slash-command get-user-channels check-thumbnail-status get-bot-storage update-bot-storage remove-bot-storage`.split(
    /\s+/,
  )

describe('exit codes over the whole catalogue', () => {
  const people = {} as Record<Who, Caller>
  const ids: Record<string, string> = {}

  before(async () => {
    writeFileSync(picture, pixel.png)
    const { owner, url } = daemon()
    const member = await person(daemon(), 'amy')
    const guest = await person(daemon(), 'gus', { role: 600 })
    Object.assign(people, { owner, member, guest })
    await natter(['channels', 'create', 'general'])
    await natter(['channels', 'create', 'board', '--can-send-message-group', 'role:owners'])
    await natter(['groups', 'create', 'team', '--description', 'us', '--members', 'me'])
    await natter(['emoji', 'upload', 'logo', picture])
    ids.MESSAGE = await natter(['send', '#general>lunch', 'Hello'])
    ids.OWNER = String(owner.id)
    await natter(['org', 'edit', '--enable-read-receipts'])
    const bot = JSON.parse(await natter(['bots', 'create', 'echo', 'Echo', '--json']))
    ids.BOT = String(bot.user_id)
    people.bot = new Caller(url, 'echo-bot@example.com', bot.api_key, bot.user_id)
  })
  after(() => rmSync(folder, { recursive: true, force: true }))

  test('every endpoint says what is not found and what is not permitted, or why it cannot happen', () => {
    const all = endpoints.map(({ id }) => id).sort()
    assert.deepEqual([...Object.keys(notFound), ...namesNothing].sort(), all)
    assert.deepEqual([...Object.keys(denied), ...openToAll].sort(), all)
  })

  for (const endpoint of endpoints) {
    const { id, cli } = endpoint
    const absent = notFound[id]
    if (absent)
      test(`natter ${cli.name}: 3 for what does not exist`, async () => {
        const caller = endpointAt(endpoint, defaultLevel) ? people.owner : newest().owner
        const refused = await ends(exitCodes.notFound, caller, [...cli.name.split(' '), ...absent])
        assert.doesNotMatch(refused, /no endpoint/)
      })
    const [who, ...line] = denied[id] ?? []
    if (who)
      test(`natter ${cli.name}: 4 for what is not permitted`, async () => {
        if (settings[id]) await natter(['org', 'edit', ...settings[id]])
        await ends(exitCodes.denied, people[who], [...cli.name.split(' '), ...line])
      })
  }

  test('natter send: 3 for an address without an account', async () => {
    await ends(exitCodes.notFound, people.owner, ['send', 'nobody@example.com', 'Hello'])
  })

  async function ends(code: number, caller: Caller, line: readonly string[]): Promise<string> {
    const args = line.map(word => word.replace(/\b(MESSAGE|OWNER|BOT)\b/, name => ids[name]!))
    const outcome = await inProcess([...args, '--yes'], { env: envOf(caller) })
    assert.equal(outcome.code, code, `natter ${args.join(' ')}: ${outcome.code} ${outcome.stdout}${outcome.stderr}`)
    return outcome.stderr
  }

  async function natter(args: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await inProcess(args, { env: envOf(people.owner) })
    assert.equal(code, 0, `natter ${args.join(' ')}: ${stderr}`)
    return stdout.trim()
  }
})

function envOf({ url, email, key }: Caller): Record<string, string> {
  const account = { NATTER_SITE: url, NATTER_EMAIL: email!, NATTER_API_KEY: key! }
  return { ...account, NATTER_PASSWORD: 'not the password of anybody' }
}
