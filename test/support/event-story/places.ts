// Channels, groups, personal records and the organization.

import { channelFolders } from '../../../daemon/api/channels/channel-folders.ts'
import { channels } from '../../../daemon/api/channels/channels.ts'
import { defaultChannels } from '../../../daemon/api/channels/default-channels.ts'
import { subscriptions } from '../../../daemon/api/channels/subscriptions.ts'
import { topics } from '../../../daemon/api/channels/topics.ts'
import { drafts } from '../../../daemon/api/messages/drafts.ts'
import { savedSnippets } from '../../../daemon/api/messages/saved-snippets.ts'
import { emoji } from '../../../daemon/api/organization/emoji.ts'
import { dataExports } from '../../../daemon/api/organization/exports.ts'
import { linkifiers } from '../../../daemon/api/organization/linkifiers.ts'
import { organization } from '../../../daemon/api/organization/organization.ts'
import { pictures } from '../../../daemon/api/organization/pictures.ts'
import { playgrounds } from '../../../daemon/api/organization/playgrounds.ts'
import { navigationViews } from '../../../daemon/api/people/navigation-views.ts'
import { onboardingSteps } from '../../../daemon/api/people/onboarding-steps.ts'
import { settings } from '../../../daemon/api/people/settings.ts'
import { userGroups } from '../../../daemon/api/people/user-groups.ts'
import { at, people, picture, type Row, row } from './row.ts'

const one = (group: string) => ({ new: at[group], old: at['role:nobody'] })

export const aboutPlaces: readonly Row[] = [
  row('stream/create', 'a', channels.create, () => ({ name: 'pond', subscribers: [people.a.id] }), 'oab', 'streams', {
    keep: ['pond', 'id'],
  }),
  row(
    'stream/create',
    'a',
    channels.create,
    () => ({ name: 'cave', subscribers: [people.a.id], invite_only: true }),
    'oa',
    'streams',
    {
      keep: ['cave', 'id'],
    },
  ),
  row(
    'stream/update',
    'o',
    channels.update,
    () => ({ stream_id: at.garden, new_name: 'yard' }),
    'oabg',
    'stream_id name property value',
  ),
  row(
    'stream/update',
    'o',
    channels.update,
    () => ({ stream_id: at.garden, description: 'd' }),
    'oabg',
    'stream_id name property value rendered_description',
  ),
  row(
    'stream/update',
    'o',
    channels.update,
    () => ({ stream_id: at.vault, description: 'd' }),
    'oa',
    'stream_id name property value rendered_description',
  ),
  row(
    'stream/update',
    'a',
    channels.update,
    () => ({ stream_id: at.pond, can_send_message_group: { new: at['role:administrators'] } }),
    'oab',
    'stream_id name property value',
  ),
  row(
    'stream/delete',
    'a',
    channels.update,
    () => ({ stream_id: at.pond, is_private: true }),
    'b',
    'stream_ids streams',
  ),
  row('stream/update', 'a', channels.archive, () => ({ stream_id: at.pond }), 'oa', 'stream_id name property value', {
    plain: '-',
  }),
  row('subscription/add', 'b', subscriptions.subscribe, { subscriptions: [{ name: 'yard' }] }, 'b', 'subscriptions'),
  row(
    'subscription/peer_add',
    'o',
    subscriptions.subscribe,
    () => ({ subscriptions: [{ name: 'vault' }], principals: [people.b.id] }),
    'oa',
    'stream_ids user_ids',
  ),
  row(
    'subscription/peer_remove',
    'o',
    subscriptions.unsubscribe,
    () => ({ subscriptions: ['vault'], principals: [people.b.id] }),
    'oa',
    'stream_ids user_ids',
  ),
  row('subscription/remove', 'b', subscriptions.unsubscribe, { subscriptions: ['yard'] }, 'b', 'subscriptions', {
    inner: ['subscriptions.0', 'stream_id name'],
  }),
  row(
    'subscription/update',
    'a',
    subscriptions.property,
    () => ({ stream_id: at.garden, property: 'is_muted', value: true }),
    'a',
    'stream_id property value',
  ),
  row('default_streams', 'o', defaultChannels.add, () => ({ stream_id: at.garden }), 'oab', 'default_streams'),
  row(
    'default_stream_groups',
    'o',
    defaultChannels.createGroup,
    { group_name: 'n', description: 'd', stream_names: [] },
    'oab',
    'default_stream_groups',
  ),
  row('channel_folder/add', 'o', channelFolders.create, { name: 'f' }, 'oabg', 'channel_folder', {
    keep: ['folder', 'channel_folder_id'],
  }),
  row(
    'channel_folder/update',
    'o',
    channelFolders.edit,
    () => ({ channel_folder_id: at.folder, description: 'd' }),
    'oabg',
    'channel_folder_id data',
    {
      inner: ['data', 'description rendered_description'],
    },
  ),

  row(
    'user_group/add',
    'a',
    userGroups.create,
    () => ({ name: 'cooks', description: '', members: [people.a.id] }),
    'oabg',
    'group',
    {
      keep: ['cooks', 'group_id'],
    },
  ),
  row(
    'user_group/update',
    'a',
    userGroups.update,
    () => ({ user_group_id: at.cooks, name: 'chefs' }),
    'oabg',
    'group_id data',
    { inner: ['data', 'name'] },
  ),
  row(
    'user_group/update',
    'a',
    userGroups.update,
    () => ({ user_group_id: at.cooks, can_join_group: one('role:members') }),
    'oabg',
    'group_id data',
  ),
  row(
    'user_group/add_members',
    'a',
    userGroups.updateMembers,
    () => ({ user_group_id: at.cooks, add: [people.b.id] }),
    'oabg',
    'group_id user_ids',
  ),
  row(
    'user_group/remove_members',
    'a',
    userGroups.updateMembers,
    () => ({ user_group_id: at.cooks, delete: [people.b.id] }),
    'oabg',
    'group_id user_ids',
  ),
  row(
    'user_group/add_subgroups',
    'a',
    userGroups.updateSubgroups,
    () => ({ user_group_id: at.cooks, add: [at['role:moderators']] }),
    'oabg',
    'group_id direct_subgroup_ids',
  ),
  row(
    'user_group/remove_subgroups',
    'a',
    userGroups.updateSubgroups,
    () => ({ user_group_id: at.cooks, delete: [at['role:moderators']] }),
    'oabg',
    'group_id direct_subgroup_ids',
  ),
  row('user_group/update', 'a', userGroups.deactivate, () => ({ user_group_id: at.cooks }), 'oabg', 'group_id data', {
    plain: '-',
    inner: ['data', 'deactivated'],
  }),
  row(
    'user_group/update',
    'a',
    userGroups.update,
    () => ({ user_group_id: at.cooks, deactivated: false }),
    'oabg',
    'group_id data',
    { plain: '-' },
  ),
  row('user_group/remove', 'a', userGroups.deactivate, () => ({ user_group_id: at.cooks }), '', '', {
    plain: 'group_id',
  }),

  row(
    'user_topic',
    'a',
    topics.follow,
    () => ({ stream_id: at.garden, topic: 't', visibility_policy: 3 }),
    'a',
    'stream_id topic_name last_updated visibility_policy',
  ),
  row(
    'muted_topics',
    'a',
    topics.follow,
    () => ({ stream_id: at.garden, topic: 't', visibility_policy: 1 }),
    'a',
    'muted_topics',
  ),
  row('saved_snippets/add', 'a', savedSnippets.create, { title: 't', content: 'c' }, 'a', 'saved_snippet', {
    keep: ['snippet', 'saved_snippet_id'],
  }),
  row(
    'saved_snippets/update',
    'a',
    savedSnippets.edit,
    () => ({ saved_snippet_id: at.snippet, title: 'u' }),
    'a',
    'saved_snippet',
  ),
  row(
    'saved_snippets/remove',
    'a',
    savedSnippets.delete,
    () => ({ saved_snippet_id: at.snippet }),
    'a',
    'saved_snippet_id',
  ),
  row(
    'navigation_view/add',
    'a',
    navigationViews.add,
    { fragment: 'narrow/x', is_pinned: true, name: 'x' },
    'a',
    'navigation_view',
  ),
  row(
    'navigation_view/update',
    'a',
    navigationViews.edit,
    { fragment: 'narrow/x', is_pinned: false },
    'a',
    'fragment data',
    { inner: ['data', 'is_pinned'] },
  ),
  row('navigation_view/remove', 'a', navigationViews.remove, { fragment: 'narrow/x' }, 'a', 'fragment'),
  row('drafts/add', 'a', drafts.create, { drafts: [{ type: '', to: [], topic: '', content: 'x' }] }, 'a', 'drafts', {
    keep: ['draft', 'ids.0'],
  }),
  row(
    'drafts/update',
    'a',
    drafts.edit,
    () => ({ draft_id: at.draft, draft: { type: '', to: [], topic: '', content: 'y' } }),
    'a',
    'draft',
  ),
  row('drafts/remove', 'a', drafts.delete, () => ({ draft_id: at.draft }), 'a', 'draft_id'),

  row('realm/update', 'o', organization.update, { description: 'new' }, 'oabg', 'property value'),
  row('realm/update_dict', 'o', organization.update, { allow_message_editing: false }, 'oabg', 'property data'),
  row(
    'realm/update_dict',
    'o',
    organization.update,
    () => ({ can_create_bots_group: { new: at['role:moderators'] } }),
    'oabg',
    'property data',
  ),
  row(
    'onboarding_steps',
    'a',
    onboardingSteps.mark,
    { onboarding_step: 'intro_resolve_topic' },
    'a',
    'onboarding_steps',
  ),
  row('realm/update_dict', 'o', pictures.uploadIcon, () => ({ file: picture() }), 'oabg', 'property data', {
    inner: ['data', 'icon_url icon_source'],
  }),
  row(
    'realm/update_dict',
    'o',
    pictures.uploadLogo,
    () => ({ night: true, file: picture() }),
    'oabg',
    'property data',
    { inner: ['data', 'night_logo_url night_logo_source'] },
  ),
  row('realm_emoji/update', 'o', emoji.upload, () => ({ emoji_name: 'bean', file: picture() }), 'oabg', 'realm_emoji'),
  row(
    'realm_linkifiers',
    'o',
    linkifiers.add,
    { pattern: '#(?P<id>[0-9]+)', url_template: 'https://example.com/{id}' },
    'oabg',
    'realm_linkifiers',
    { plain: '-' },
  ),
  row(
    'realm_playgrounds',
    'o',
    playgrounds.add,
    { name: 'C', pygments_language: 'c', url_template: 'https://example.com/{code}' },
    'oabg',
    'realm_playgrounds',
  ),
  row('realm_domains/add', 'o', organization.addDomain, { domain: 'example.org' }, 'oabg', 'realm_domain'),
  row(
    'realm_domains/change',
    'o',
    organization.changeDomain,
    { domain: 'example.org', allow_subdomains: true },
    'oabg',
    'realm_domain',
  ),
  row('realm_domains/remove', 'o', organization.removeDomain, { domain: 'example.org' }, 'oabg', 'domain'),
  row('realm_export', 'o', dataExports.create, {}, 'o', 'exports'),
  row('realm_export_consent', 'a', settings.update, { allow_private_data_export: true }, 'o', 'user_id consented'),
]
