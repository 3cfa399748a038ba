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
  text,
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
    method: 'GET',
    path: '/invites',
    access: 'user',
    since: 1,
    summary: 'List open invitations: your own, or all of them for administrators',
    params: {},
    reply: {
      invites: listOf(
        record({
          id: int,
          invited_by_user_id: int,
          invited: int,
          expiry_date: nullable(int),
          invited_as: role,
          is_multiuse: bool,
          email: maybe(text),
          notify_referrer_on_join: maybe(bool),
          link_url: maybe(text),
        }),
      ),
    },
    refusals: ['BAD_REQUEST'],
    cli: {
      name: 'invites list',
      examples: ['natter invites list', 'natter invites list --json'],
      shows: 'invites',
      columns: ['id', 'email', 'invited_as', 'expiry_date', 'is_multiuse', 'link_url'],
    },
  }),
  send: endpoint({
    id: 'send-invites',
    method: 'POST',
    path: '/invites',
    access: 'user',
    since: 1,
    summary: 'Invite people by email',
    params: {
      invitee_emails: required(text, 'email addresses, separated by commas or line breaks'),
      stream_ids: required(listOf(channelId), 'channels to subscribe to'),
      ...shared,
      notify_referrer_on_join: defaulted(bool, true, 'notify you when they join', {
        off: 'do not notify you when they join',
      }),
    },
    reply: {},
    refusals: ['BAD_REQUEST', 'UNAUTHORIZED_PRINCIPAL', 'INVITATION_FAILED'],
    cli: {
      name: 'invites send',
      args: ['invitee_emails'],
      flags: { stream_ids: 'channels', group_ids: 'groups', invite_as: 'as', invite_expires_in_minutes: 'minutes' },
      examples: [
        'natter invites send eve@example.com --channels general',
        'natter invites send "eve@example.com, fay@example.com" --channels [] --as 600',
      ],
    },
  }),
  createLink: endpoint({
    id: 'create-invite-link',
    method: 'POST',
    path: '/invites/multiuse',
    access: 'user',
    since: 1,
    summary: 'Create an invitation link that many people can use',
    params: { ...shared, stream_ids: defaulted(listOf(channelId), [], 'channels to subscribe to') },
    reply: { invite_link: text },
    refusals: ['BAD_REQUEST', 'UNAUTHORIZED_PRINCIPAL'],
    cli: {
      name: 'invites link',
      flags: { stream_ids: 'channels', group_ids: 'groups', invite_as: 'as', invite_expires_in_minutes: 'minutes' },
      examples: ['natter invites link', 'natter invites link --as 600 --minutes 60'],
      shows: 'invite_link',
    },
  }),
  revoke: endpoint({
    id: 'revoke-email-invite',
    method: 'DELETE',
    path: '/invites/{invite_id}',
    access: 'user',
    since: 1,
    summary: 'Revoke an email invitation',
    params: which,
    reply: {},
    refusals: ['BAD_REQUEST', 'UNAUTHORIZED_PRINCIPAL'],
    cli: {
      name: 'invites revoke',
      args: ['invite_id'],
      examples: ['natter invites revoke 3', 'natter invites revoke 3 --json'],
    },
  }),
  revokeLink: endpoint({
    id: 'revoke-invite-link',
    method: 'DELETE',
    path: '/invites/multiuse/{invite_id}',
    access: 'user',
    since: 1,
    summary: 'Revoke an invitation link',
    params: which,
    reply: {},
    refusals: ['BAD_REQUEST', 'UNAUTHORIZED_PRINCIPAL'],
    cli: {
      name: 'invites revoke-link',
      args: ['invite_id'],
      examples: ['natter invites revoke-link 4', 'natter invites revoke-link 4 --json'],
    },
  }),
  resend: endpoint({
    id: 'resend-email-invite',
    method: 'POST',
    path: '/invites/{invite_id}/resend',
    access: 'user',
    since: 1,
    summary: 'Send an invitation email again',
    params: which,
    reply: {},
    refusals: ['BAD_REQUEST', 'UNAUTHORIZED_PRINCIPAL'],
    cli: {
      name: 'invites resend',
      args: ['invite_id'],
      examples: ['natter invites resend 3', 'natter invites resend 3 --json'],
    },
  }),
}
