// Kinds of events about people, bots and personal settings.

import { bots } from '../../../../daemon/api/bots/bots.ts'
import { subscriptions } from '../../../../daemon/api/channels/subscriptions.ts'
import { organization } from '../../../../daemon/api/organization/organization.ts'
import { alertWords } from '../../../../daemon/api/people/alert-words.ts'
import { invitations } from '../../../../daemon/api/people/invitations.ts'
import { mutedUsers } from '../../../../daemon/api/people/muted-users.ts'
import { navigationViews } from '../../../../daemon/api/people/navigation-views.ts'
import { onboardingSteps } from '../../../../daemon/api/people/onboarding-steps.ts'
import { presence } from '../../../../daemon/api/people/presence.ts'
import { profileFields } from '../../../../daemon/api/people/profile-fields.ts'
import { settings } from '../../../../daemon/api/people/settings.ts'
import { userGroups } from '../../../../daemon/api/people/user-groups.ts'
import { userStatus } from '../../../../daemon/api/people/user-status.ts'
import { users } from '../../../../daemon/api/people/users.ts'
import type { Role, Stage } from './stage.ts'
import { by, idsFor, type Triggers, unique } from './trigger.ts'

const newcomer = (stage: Stage) => stage.id('newcomer')

/** Sets a switch to false, so that true is a change. */
const turnedOff =
  (role: Role, endpoint: typeof settings.update | typeof settings.updateDefaults, name: string) =>
  async (stage: Stage) => {
    await stage.call(role, endpoint, { [name]: false })
    return true
  }

const makeBot = (role: Role) => async (stage: Stage) => {
  const name = stage.name('helper')
  return stage.made(role, bots.create, { full_name: name, short_name: name }, 'user_id')
}

const seeAllUsers = async (stage: Stage, group: string) =>
  stage.call('owner', organization.update, { can_access_all_users_group: { new: await stage.systemGroup(group) } })

/** A user who shares no channel with others, in an organization where guests see only users of their own channels. */
const soonGuest = async (stage: Stage) => {
  await seeAllUsers(stage, 'role:members')
  const { subscriptions: joined } = await stage.call('newcomer', subscriptions.list, {})
  const names = (joined as { name: string }[]).map(({ name }) => name)
  await stage.call('newcomer', subscriptions.unsubscribe, { subscriptions: names })
  return stage.id('newcomer')
}

const memberAgain = async (stage: Stage) => {
  await stage.call('owner', users.update, { user_id: await stage.id('newcomer'), role: 400 })
  await seeAllUsers(stage, 'role:everyone')
}

const group = (stage: Stage) => stage.group()

const view = async (stage: Stage) => {
  const fragment = stage.name('narrow/is/starred')
  await stage.call('me', navigationViews.add, { fragment, is_pinned: true, name: stage.name('View') })
  return fragment
}

export const aboutPeople: Triggers = {
  presence: by.newcomer('a new colleague becomes active', presence.update, { status: 'active' }),
  user_status: by.other('a colleague sets a status', userStatus.update, { status_text: unique('busy') }),
  'user_settings/update': by.me('you change a setting', settings.update, {
    enter_sends: turnedOff('me', settings.update, 'enter_sends'),
  }),
  update_display_settings: by.me(
    'you change a setting; for clients without user_settings_object',
    settings.update,
    { enter_sends: turnedOff('me', settings.update, 'enter_sends') },
    { older: true },
  ),
  update_global_notifications: by.me(
    'you change a notification setting; for clients without user_settings_object',
    settings.update,
    { enable_sounds: turnedOff('me', settings.update, 'enable_sounds') },
    { older: true },
  ),
  'realm_user_settings_defaults/update': by.owner(
    'the owner changes a setting of new accounts',
    settings.updateDefaults,
    { enter_sends: turnedOff('owner', settings.updateDefaults, 'enter_sends') },
  ),
  'realm_user/add': by.owner('the owner creates an account', users.create, {
    email: (stage: Stage) => `${stage.name('colleague')}@example.com`,
    password: 'a password that is long enough',
    full_name: 'New Colleague',
  }),
  'realm_user/update': by.owner('the owner renames an account', users.update, {
    user_id: newcomer,
    full_name: unique('renamed'),
  }),
  'realm_user/remove': by.owner(
    'a new colleague becomes a guest and no longer sees all users',
    users.update,
    { user_id: soonGuest, role: 600 },
    { to: 'newcomer', after: memberAgain },
  ),
  onboarding_steps: by.me('you see a hint for new users', onboardingSteps.mark, {
    onboarding_step: 'intro_resolve_topic',
  }),
  muted_users: by.me('you mute a user', mutedUsers.mute, { muted_user_id: newcomer }),
  alert_words: by.me('you add an alert word', alertWords.add, { alert_words: (stage: Stage) => [stage.name('word')] }),
  custom_profile_fields: by.owner('the owner adds a profile field', profileFields.create, {
    name: unique('Field'),
    field_type: 1,
  }),
  'realm_bot/add': by.owner(
    'the owner creates a bot',
    bots.create,
    { full_name: unique('robot'), short_name: unique('robot') },
    { to: 'owner' },
  ),
  'realm_bot/update': by.owner(
    'the owner lets a bot listen to all public channels',
    bots.update,
    { bot_id: makeBot('owner'), default_all_public_streams: true },
    { to: 'owner' },
  ),
  'realm_bot/delete': by.owner(
    'a new colleague no longer owns a bot',
    bots.update,
    { bot_id: makeBot('newcomer'), bot_owner_id: (stage: Stage) => stage.id('owner') },
    { to: 'newcomer' },
  ),
  invites_changed: by.owner(
    'the owner invites a person',
    invitations.send,
    { invitee_emails: (stage: Stage) => `${stage.name('invited')}@example.com`, stream_ids: [] },
    { to: 'owner' },
  ),
  'user_group/add': by.owner('the owner creates a group', userGroups.create, {
    name: unique('group'),
    description: '',
    members: idsFor('me'),
  }),
  'user_group/update': by.owner('the owner renames a group', userGroups.update, {
    user_group_id: group,
    name: unique('group'),
  }),
  'user_group/add_members': by.owner('the owner adds a member to a group', userGroups.updateMembers, {
    user_group_id: group,
    add: idsFor('newcomer'),
  }),
  'user_group/remove_members': by.owner('the owner removes a member of a group', userGroups.updateMembers, {
    user_group_id: group,
    delete: idsFor('owner'),
  }),
  'user_group/add_subgroups': by.owner('the owner adds a subgroup', userGroups.updateSubgroups, {
    user_group_id: group,
    add: async (stage: Stage) => [await stage.group()],
  }),
  'user_group/remove_subgroups': by.owner('the owner removes a subgroup', userGroups.updateSubgroups, {
    user_group_id: async (stage: Stage) => {
      const user_group_id = await stage.group()
      const add = [await stage.systemGroup('role:moderators')]
      await stage.call('owner', userGroups.updateSubgroups, { user_group_id, add })
      return user_group_id
    },
    delete: async (stage: Stage) => [await stage.systemGroup('role:moderators')],
  }),
  'user_group/remove': by.owner(
    'the owner deactivates a group; for clients without include_deactivated_groups',
    userGroups.deactivate,
    { user_group_id: group },
    { older: true },
  ),
  'navigation_view/add': by.me('you add a view to the sidebar', navigationViews.add, {
    fragment: unique('narrow/is/starred'),
    is_pinned: true,
    name: unique('View'),
  }),
  'navigation_view/update': by.me('you unpin a view', navigationViews.edit, { fragment: view, is_pinned: false }),
  'navigation_view/remove': by.me('you remove a view', navigationViews.remove, { fragment: view }),
  realm_export_consent: by.newcomer(
    'a new colleague agrees to an export of private data',
    settings.update,
    { allow_private_data_export: true },
    { to: 'owner' },
  ),
}
