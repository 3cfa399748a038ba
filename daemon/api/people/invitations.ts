// Invitations: by email to one person each, or a link for many people.

import {
  bool,
  channelId,
  defaulted,
  endpoint,
  groupId,
  inPath,
  int,
  listOf,
  maybe,
  natural,
  nullable,
  optional,
  record,
  required,
  secret,
  text,
  timestamp,
  userId,
} from '../define.ts'
import { role, roleAbout } from './users.ts'

const shared = {
  invite_as: defaulted(role, 400, roleAbout),
  group_ids: defaulted(listOf(groupId), [], 'user groups to join'),
  invite_expires_in_minutes: defaulted(nullable(natural), 14_400, 'how long it is valid; null for no limit'),
  include_realm_default_subscriptions: defaulted(bool, false, 'also subscribe them to the default channels'),
  welcome_message_custom_text: optional(nullable(text), 'custom welcome message (administrators)'),
}

const which = { invite_id: inPath(int, 'the invitation') }

export const invitations = {
  list: endpoint({
    id: 'get-invites',
    route: 'GET /invites',
    callers: 'human members',
    summary: 'List open invitations: your own, or all of them for administrators',
    reply: {
      invites: listOf(
        record({
          id: int,
          invited_by_user_id: userId,
          invited: timestamp,
          expiry_date: nullable(timestamp),
          invited_as: role,
          is_multiuse: bool,
          email: maybe(text),
          notify_referrer_on_join: maybe(bool),
          link_url: maybe(text),
        }),
      ),
    },
    cli: {
      name: 'invites list',
      examples: ['natter invites list', 'natter invites list --json'],
      columns: ['id', 'email', 'invited_as', 'expiry_date', 'invited_by_user_id', 'is_multiuse', 'link_url'],
    },
  }),
  send: endpoint({
    id: 'send-invites',
    mails: 'invitation',
    route: 'POST /invites',
    callers: 'human members',
    summary: 'Invite people by email',
    params: {
      invitee_emails: required(text, 'email addresses, separated by commas or line breaks'),
      stream_ids: required(listOf(channelId), 'channels to subscribe to'),
      ...shared,
      notify_referrer_on_join: defaulted(bool, true, 'notify you when they join', {
        off: 'do not notify you when they join',
      }),
    },
    refusals: ['UNAUTHORIZED_PRINCIPAL', 'INVITATION_FAILED'],
    cli: {
      name: 'invites send',
      done: 'sent the invitations',
      args: ['invitee_emails'],
      flags: { stream_ids: 'channels', group_ids: 'groups', invite_as: 'role', invite_expires_in_minutes: 'minutes' },
      examples: [
        'natter invites send eve@example.com --channels general',
        'natter invites send "eve@example.com, fay@example.com" --channels [] --role 600',
      ],
    },
  }),
  createLink: endpoint({
    id: 'create-invite-link',
    route: 'POST /invites/multiuse',
    callers: 'human members',
    summary: 'Create an invitation link that many people can use',
    params: { ...shared, stream_ids: defaulted(listOf(channelId), [], 'channels to subscribe to') },
    reply: { invite_link: text },
    refusals: ['UNAUTHORIZED_PRINCIPAL'],
    cli: {
      name: 'invites link',
      flags: { stream_ids: 'channels', group_ids: 'groups', invite_as: 'role', invite_expires_in_minutes: 'minutes' },
      examples: ['natter invites link', 'natter invites link --role 600 --minutes 60'],
      shows: 'invite_link',
    },
  }),
  // OPEN: on public servers invitations are accepted in the web application only. Here the page at /join/{token} and programs use
  // an endpoint.
  accept: endpoint({
    id: 'accept-invite',
    route: 'POST /invites/accept',
    access: 'anyone',
    since: 417,
    notOnPublicServers: true,
    summary: 'Accept an invitation: create your account with the token of its link',
    params: {
      token: required(text, 'the last part of the link: /join/TOKEN/'),
      full_name: required(text, 'your full name, 2 to 100 characters'),
      password: optional(secret, 'your password; not needed where people do not log in with one'),
      email: optional(text, 'your email address; required with a link that many people can use'),
    },
    reply: { user_id: int, email: text },
    cli: {
      name: 'invites accept',
      done: 'created your account {email} (ID {user_id})',
      examples: [
        'natter invites accept TOKEN "Eve Evans"',
        'natter invites accept TOKEN "Eve Evans" --email eve@example.com --json',
      ],
    },
  }),
  revoke: endpoint({
    id: 'revoke-email-invite',
    route: 'DELETE /invites/{invite_id}',
    callers: 'human members',
    summary: 'Revoke an email invitation',
    params: which,
    refusals: ['UNAUTHORIZED_PRINCIPAL'],
    cli: {
      name: 'invites revoke',
      done: 'revoked invitation {invite_id}',
      examples: ['natter invites revoke 1', 'natter invites revoke 1 --json'],
    },
  }),
  revokeLink: endpoint({
    id: 'revoke-invite-link',
    route: 'DELETE /invites/multiuse/{invite_id}',
    callers: 'human members',
    summary: 'Revoke an invitation link',
    params: which,
    refusals: ['UNAUTHORIZED_PRINCIPAL'],
    cli: {
      name: 'invites revoke-link',
      done: 'revoked invitation link {invite_id}',
      examples: ['natter invites revoke-link 1', 'natter invites revoke-link 1 --json'],
    },
  }),
  resend: endpoint({
    id: 'resend-email-invite',
    mails: 'invitation',
    route: 'POST /invites/{invite_id}/resend',
    callers: 'human members',
    summary: 'Send an invitation email again',
    params: which,
    refusals: ['UNAUTHORIZED_PRINCIPAL', 'INVITATION_FAILED'],
    cli: {
      name: 'invites resend',
      done: 'sent invitation {invite_id} again',
      examples: ['natter invites resend 1', 'natter invites resend 1 --json'],
    },
  }),
}
