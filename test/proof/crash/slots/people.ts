// Slots of people, their groups and what they set for themselves.

import { alertWords } from '../../../../daemon/api/people/alert-words.ts'
import { avatars } from '../../../../daemon/api/people/avatars.ts'
import { invitations } from '../../../../daemon/api/people/invitations.ts'
import { mutedUsers } from '../../../../daemon/api/people/muted-users.ts'
import { navigationViews } from '../../../../daemon/api/people/navigation-views.ts'
import { onboardingSteps } from '../../../../daemon/api/people/onboarding-steps.ts'
import { profileFields } from '../../../../daemon/api/people/profile-fields.ts'
import { pushDevices } from '../../../../daemon/api/people/push-devices.ts'
import { settings } from '../../../../daemon/api/people/settings.ts'
import { userGroups } from '../../../../daemon/api/people/user-groups.ts'
import { userStatus } from '../../../../daemon/api/people/user-status.ts'
import { users } from '../../../../daemon/api/people/users.ts'
import { pixel } from '../../../support/images.ts'
import { type Place, phone } from '../place.ts'
import {
  by,
  call,
  group,
  growing,
  lastWord,
  looksUp,
  once,
  order,
  person,
  type Slot,
  steady,
  text,
  toggle,
  type World,
} from './slot.ts'

const password = 'correct horse battery'

export function peopleSlots({ keeper, dan, eve, invitation, link }: Place): readonly Slot[] {
  const me = keeper.id
  const otherLink = (w: World) => w.invites.find(({ is_multiuse, id }: any) => is_multiuse && id !== link.id)
  return [
    text(
      'status',
      n => call(userStatus.update, { status_text: n }),
      w => w.user_status[me].status_text,
    ),
    text(
      'name',
      n => call(settings.update, { full_name: `Kim ${n}` }),
      w => lastWord(person(w, me).full_name),
    ),
    text(
      'group',
      (n, w) => call(userGroups.update, { user_group_id: group(w, 'crew').id, description: n }),
      w => group(w, 'crew').description,
    ),
    text(
      'profile',
      n => call(profileFields.set, { data: [{ id: 1, value: n }] }),
      w => person(w, me).profile_data['1'].value,
    ),
    text(
      'profile field',
      n => call(profileFields.update, { field_id: 1, hint: n }),
      w => by(w.custom_profile_fields, 1).hint,
    ),
    text(
      'navigation view',
      n => call(navigationViews.edit, { fragment: 'narrow/topic/tools', name: n }),
      w => w.navigation_views.find(({ fragment }: any) => fragment === 'narrow/topic/tools').name,
    ),
    toggle(
      'setting',
      yes => call(settings.update, { starred_message_counts: !yes }),
      w => !w.user_settings.starred_message_counts,
    ),
    toggle(
      'member of a group',
      (yes, w) =>
        call(userGroups.updateMembers, { user_group_id: group(w, 'crew').id, [yes ? 'add' : 'delete']: [dan] }),
      w => group(w, 'crew').members.includes(dan),
    ),
    toggle(
      'alert word',
      yes => call(yes ? alertWords.add : alertWords.remove, { alert_words: ['beans'] }),
      w => w.alert_words.includes('beans'),
    ),
    toggle(
      'muted user',
      yes => call(yes ? mutedUsers.mute : mutedUsers.unmute, { muted_user_id: dan }),
      w => w.muted_users.some(({ id }: any) => id === dan),
    ),
    toggle(
      'deactivated group',
      (yes, w) =>
        yes
          ? call(userGroups.deactivate, { user_group_id: group(w, 'past').id })
          : call(userGroups.update, { user_group_id: group(w, 'past').id, deactivated: false }),
      w => group(w, 'past').deactivated,
    ),
    toggle(
      'deactivated user',
      yes => call(yes ? users.deactivate : users.reactivate, { user_id: eve }),
      w => !w.realm_users.some(({ user_id }: any) => user_id === eve),
    ),
    toggle(
      'role',
      yes => call(users.update, { user_id: dan, role: yes ? 300 : 400 }),
      w => person(w, dan).role === 300,
    ),
    toggle(
      'second navigation view',
      yes =>
        yes
          ? call(navigationViews.add, { fragment: 'narrow/topic/nails', is_pinned: true, name: 'x' })
          : call(navigationViews.remove, { fragment: 'narrow/topic/nails' }),
      w => w.navigation_views.some(({ fragment }: any) => fragment === 'narrow/topic/nails'),
    ),
    looksUp(
      'second profile field',
      (yes, w) =>
        yes
          ? call(profileFields.create, { field_type: 1, name: 'second' })
          : call(profileFields.delete, {
              field_id: w.custom_profile_fields.find(({ name }: any) => name === 'second').id,
            }),
      w => w.custom_profile_fields.some(({ name }: any) => name === 'second'),
    ),
    looksUp(
      'invitation',
      (yes, w) =>
        yes
          ? call(invitations.createLink, { invite_as: 400 })
          : call(invitations.revokeLink, { invite_id: otherLink(w).id }),
      w => otherLink(w) !== undefined,
    ),
    order(
      'order of profile fields',
      order => call(profileFields.reorder, { order }),
      w => w.custom_profile_fields.map(({ id }: any) => id),
    ),
    toggle(
      'avatar',
      yes =>
        yes
          ? call(avatars.upload, { file: { filename: 'a.png', contentType: 'image/png', bytes: pixel.png } })
          : call(avatars.delete, {}),
      w => w.avatar_source === 'U',
    ),
    growing(
      'new group',
      n => call(userGroups.create, { name: `new ${n}`, description: '', members: [] }),
      w => w.realm_user_groups.filter(({ name }: any) => name.startsWith('new ')).length,
    ),
    toggle(
      'subgroup',
      (yes, w) =>
        call(userGroups.updateSubgroups, {
          user_group_id: group(w, 'crew').id,
          [yes ? 'add' : 'delete']: [group(w, 'pals').id],
        }),
      w => group(w, 'crew').direct_subgroup_ids.includes(group(w, 'pals').id),
    ),
    steady(
      'invitation that is sent again',
      () => call(invitations.resend, { invite_id: invitation }),
      w => w.invites.some(({ id, is_multiuse }: any) => id === invitation && !is_multiuse),
    ),
    steady(
      'email address that waits for its confirmation',
      n => call(settings.update, { email: `kim${n}@example.com` }),
      w => w.delivery_email === 'kim@example.com',
    ),
    text(
      'email address',
      n => ({ ...call(users.update, { user_id: dan, new_email: `dan${n}@example.com` }), as: 'founder' }),
      w => /^dan(\d+)@/.exec(person(w, dan).delivery_email)?.[1] ?? '0',
    ),
    once(
      'onboarding step',
      () => call(onboardingSteps.mark, { onboarding_step: 'intro_resolve_topic' }),
      w => !w.onboarding_steps.some(({ name }: any) => name === 'intro_resolve_topic'),
    ),
    toggle(
      'push device',
      yes => call(yes ? pushDevices.addAndroid : pushDevices.removeAndroid, { token: phone }),
      w => w.hasPhone,
    ),
    // Accepting the link ends the invitation by email to the same address.
    growing(
      'invited account',
      n => {
        const email = `guest${Math.ceil(n / 2)}@example.com`
        if (n % 2 === 1) return call(invitations.send, { invitee_emails: email, stream_ids: [] })
        return call(invitations.accept, { token: link.token, full_name: 'Guest', password, email })
      },
      w => 2 * named(w, 'Guest').length + w.invites.filter(({ email }: any) => email?.startsWith('guest')).length,
    ),
    {
      ...growing(
        'account that is logged in to',
        n => {
          const email = `new${Math.ceil(n / 2)}@example.com`
          if (n % 2 === 0) return call(users.fetchApiKey, { username: email, password })
          return { ...call(users.create, { email, full_name: 'New', password }), as: 'founder' }
        },
        w => named(w, 'New').length,
      ),
      // A login shows in `date_joined` only, which has no seconds.
      value: n => String(Math.ceil(n / 2)),
    },
  ]
}

function named({ realm_users }: World, name: string): any[] {
  return realm_users.filter(({ full_name }: any) => full_name === name)
}
