// The organization: its settings, its email domains.

import {
  anything,
  bool,
  copySpan,
  defaulted,
  eitherOf,
  endpoint,
  inPath,
  int,
  keyed,
  listOf,
  maybe,
  nullable,
  oneOf,
  optional,
  record,
  required,
  since,
  text,
} from '../define.ts'
import { groupValueChange } from '../people/user-groups.ts'
import { type OrganizationSetting, organizationSettings } from '../shapes/organization-settings.ts'
import { organizationPermissions } from '../shapes/permission-settings.ts'
import { mapTable } from '../tables.ts'

const settingParams = mapTable(organizationSettings, about) as {
  [K in OrganizationSetting]: ReturnType<typeof about<K>>
}

const emailDomain = record({ domain: text, allow_subdomains: bool })

export const organization = {
  // OPEN: in the API family only `register` returns the organization; this endpoint is an addition.
  show: endpoint({
    id: 'get-realm',
    route: 'GET /realm',
    since: 417,
    notOnPublicServers: true,
    summary: 'Show the settings of the organization',
    reply: { realm: keyed(anything) },
    cli: { name: 'org show', examples: ['natter org show', 'natter org show --json'] },
  }),
  update: endpoint({
    id: 'update-realm',
    route: 'PATCH /realm',
    callers: 'administrators',
    summary: 'Edit settings of the organization (administrators; some settings only owners)',
    params: {
      ...settingParams,
      giphy_rating: { ...settingParams.giphy_rating, until: 453 },
      gif_rating_policy: optional(oneOf(0, 1, 2, 3, 4), 'gif rating policy', { since: 453 }),
      authentication_methods: optional(keyed(bool), 'which authentication methods are enabled; at least one'),
      string_id: optional(text, 'the name of a demo organization in its address; refused, since there are none'),
      ...mapTable(organizationPermissions, name => optional(groupValueChange, `who has the permission ${name}`)),
    },
    reply: {
      ...mapTable(organizationSettings, () => maybe(anything)),
      gif_rating_policy: since(453, anything, 'leftOut'),
      authentication_methods: maybe(anything),
      ...mapTable(organizationPermissions, () => maybe(anything)),
    },
    refusals: ['REQUEST_VARIABLE_INVALID', 'EXPECTATION_MISMATCH', 'SYSTEM_GROUP_REQUIRED'],
    cli: {
      name: 'org edit',
      examples: [
        'natter org edit --name "Example Inc."',
        'natter org edit --message-content-edit-limit-seconds unlimited',
      ],
    },
  }),
  deactivate: endpoint({
    id: 'deactivate-realm',
    route: 'POST /realm/deactivate',
    callers: 'owners',
    summary: 'Deactivate the organization (owners); no account can log in until natterd is started with --reactivate',
    params: {
      deletion_delay_days: optional(nullable(int), 'days until its data can be deleted, at least 14; null for never'),
    },
    cli: {
      name: 'org deactivate',
      done: 'deactivated the organization; to undo this, restart natterd with --reactivate',
      destroys: { question: 'Deactivate the organization, so that no one can use it?' },
      examples: ['natter org deactivate', 'natter org deactivate --deletion-delay-days 30 --yes'],
    },
  }),
  domains: endpoint({
    id: 'get-realm-domains',
    route: 'GET /realm/domains',
    summary: 'List the email domains of the organization',
    reply: { domains: listOf(emailDomain) },
    cli: { name: 'org domains', examples: ['natter org domains', 'natter org domains --json'] },
  }),
  addDomain: endpoint({
    id: 'add-realm-domain',
    route: 'POST /realm/domains',
    callers: 'owners',
    summary: 'Add an email domain (owners)',
    params: {
      domain: required(text, 'the domain, such as example.com'),
      allow_subdomains: defaulted(bool, false, 'whether subdomains are included', { requiredByPublicServers: true }),
    },
    reply: { new_domain: listOf(eitherOf(int, text)) },
    cli: {
      name: 'org add-domain',
      examples: ['natter org add-domain example.com', 'natter org add-domain example.com --allow-subdomains'],
    },
  }),
  testWelcomeMessage: endpoint({
    id: 'test-welcome-bot-custom-message',
    route: 'POST /realm/test_welcome_bot_custom_message',
    callers: 'administrators',
    since: 416,
    summary: 'Send yourself a custom welcome message, to see how it looks (administrators)',
    params: { welcome_message_custom_text: required(text, 'the message, in Markdown, at most 8000 characters') },
    reply: { message_id: int },
    cli: {
      name: 'org test-welcome',
      done: 'sent message {message_id}',
      examples: [
        'natter org test-welcome "Welcome! Say hello in #general."',
        'natter org test-welcome "Hi **there**" --json',
      ],
    },
  }),
  changeDomain: endpoint({
    id: 'patch-realm-domain',
    route: 'PATCH /realm/domains/{domain}',
    callers: 'owners',
    summary: 'Change whether an email domain includes its subdomains (owners)',
    params: { domain: inPath(text, 'the domain'), allow_subdomains: required(bool, 'whether subdomains are included') },
    cli: {
      name: 'org edit-domain',
      done: 'edited domain {domain}',
      args: ['domain'],
      examples: [
        'natter org edit-domain example.com --allow-subdomains',
        'natter org edit-domain example.com --no-allow-subdomains',
      ],
    },
  }),
  removeDomain: endpoint({
    id: 'delete-realm-domain',
    route: 'DELETE /realm/domains/{domain}',
    callers: 'owners',
    summary: 'Remove an email domain (owners)',
    params: { domain: inPath(text, 'the domain') },
    cli: {
      name: 'org remove-domain',
      done: 'removed domain {domain}',
      examples: ['natter org remove-domain example.com', 'natter org remove-domain example.com --json'],
    },
  }),
}

function about<K extends OrganizationSetting>(name: K) {
  return optional(
    organizationSettings[name].shape as (typeof organizationSettings)[K]['shape'],
    name.replaceAll('_', ' '),
    copySpan(organizationSettings[name]),
  )
}
