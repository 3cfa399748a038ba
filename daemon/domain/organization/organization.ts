// The organization: its settings, its email domains, what `register` says of it.

import type { Level } from '../../api/levels/level.ts'
import { organization as api } from '../../api/organization/organization.ts'
import { type OrganizationSetting, organizationSettings } from '../../api/shapes/organization-settings.ts'
import type { Fact } from '../facts.ts'
import { limits } from '../limits.ts'
import { customMessage, fromWelcomeBot } from '../messages/notices/welcome.ts'
import type { OrganizationFact } from '../model/facts/organization.ts'
import type { EmailDomain } from '../model/rows/organization.ts'
import type { State } from '../model/state.ts'
import { announceLimit } from '../people/users/access.ts'
import { full, invalid } from '../refusal.ts'
import { type Announcement, type Event, resource } from '../resource.ts'
import { everyone } from '../rules/audiences.ts'
import { presentValue } from '../rules/group-values.ts'
import * as may from '../rules/index.ts'
import { clean } from '../values/text.ts'
import { constantSections } from './constants.ts'
import { checkDomain, knownDomain, presentDomain } from './domains.ts'
import { realmSection } from './register.ts'
import { descriptionHtml } from './server.ts'
import { update } from './update.ts'

export const organization = resource(api)<OrganizationFact>({
  commands: {
    show: ctx => ({ reply: { realm: realmSection(ctx) } }),

    update,

    deactivate(ctx, { deletion_delay_days: days }) {
      may.insist(may.own, ctx, 'deactivate the organization')
      const { deletionDelayDays: least, longestDeletionDelayDays: most } = limits
      if (typeof days === 'number' && (days < least || days > most))
        throw invalid('deletion_delay_days', `must be from ${least} to ${most}, or null`)
      // OPEN: nothing is deleted at that time; the store belongs to the person who runs the daemon.
      const deletable = typeof days === 'number' ? { deletableFrom: ctx.now + days * 86_400_000 } : {}
      return { facts: [{ type: 'organization.deactivated', ...deletable }], reply: {} }
    },

    testWelcomeMessage(ctx, { welcome_message_custom_text: given }) {
      may.insist(may.administer, ctx)
      const message = clean('welcome_message_custom_text', given, limits.welcomeMessage)
      if (message === '') throw invalid('welcome_message_custom_text', 'must not be empty')
      const [fact] = fromWelcomeBot(ctx, ctx.actor, customMessage(message))
      return { facts: [fact!], reply: { message_id: fact!.message.id } }
    },

    domains: ({ state }) => ({ reply: { domains: listDomains(state) } }),

    addDomain(ctx, params) {
      may.insist(may.own, ctx, 'add a domain')
      if (ctx.state.domains.size >= limits.emailDomains)
        throw full('The organization', limits.emailDomains, 'email domains')
      const domain: EmailDomain = {
        id: ctx.state.domains.nextId,
        domain: checkDomain(ctx.state, params.domain),
        allowSubdomains: params.allow_subdomains,
      }
      return { facts: [{ type: 'domain.added', domain }], reply: { new_domain: [domain.id, domain.domain] } }
    },

    changeDomain(ctx, params) {
      may.insist(may.own, ctx, 'change a domain')
      const old = knownDomain(ctx.state, params.domain)
      const same = old.allowSubdomains === params.allow_subdomains
      const domain = { ...old, allowSubdomains: params.allow_subdomains }
      return { facts: same ? [] : [{ type: 'domain.changed', domain }], reply: {} }
    },

    removeDomain(ctx, params) {
      may.insist(may.own, ctx, 'remove a domain')
      const facts: Fact[] = [{ type: 'domain.removed', domain: knownDomain(ctx.state, params.domain) }]
      // With no domain left, no account could have an address.
      if (ctx.state.domains.size === 1 && ctx.state.organization.settings.emails_restricted_to_domains === true)
        facts.push({ type: 'organization.changed', settings: { emails_restricted_to_domains: false }, permissions: {} })
      return { facts, reply: {} }
    },
  },

  apply: {
    'organization.founded'(state, fact) {
      state.organization = fact.organization
      for (const group of fact.groups) state.groups.put(group)
      for (const user of fact.users) state.users.put(user)
    },
    'organization.changed'(state, { settings, permissions }) {
      const { organization } = state
      state.organization = {
        ...organization,
        settings: differing({ ...organization.settings, ...settings }),
        permissions: { ...organization.permissions, ...permissions },
      }
    },
    'organization.deactivated'(state, { deletableFrom }) {
      const deactivated = deletableFrom === undefined ? {} : { deletableFrom }
      state.organization = { ...state.organization, deactivated }
    },
    'organization.reactivated'(state) {
      const { deactivated: _, ...organization } = state.organization
      state.organization = organization
    },
    'domain.added': (state, { domain }) => state.domains.put(domain),
    'domain.changed': (state, { domain }) => state.domains.put(domain),
    'domain.removed': (state, { domain }) => state.domains.remove(domain.id),
  },

  announce: {
    // There are no accounts yet, so no queue.
    'organization.founded': () => [],
    'organization.changed': changeNews,
    'organization.deactivated': state => [
      { to: everyone(state), event: { type: 'realm', op: 'deactivated', realm_id: realmId } },
    ],
    'organization.reactivated': () => [],
    'domain.added': (state, { domain }) => domainNews(state, { op: 'add', realm_domain: presentDomain(domain) }),
    'domain.changed': (state, { domain }) => domainNews(state, { op: 'change', realm_domain: presentDomain(domain) }),
    'domain.removed': (state, { domain }) => domainNews(state, { op: 'remove', domain: domain.domain }),
  },

  sections: {
    realm: realmSection,
    realm_domains: ({ state }) => ({ realm_domains: listDomains(state) }),
    ...constantSections,
  },
})

/** There is one organization. */
const realmId = 1

/** What the event looks like depends on the level: at first without the HTML, then with it beside, then in one object. */
function descriptionNews(state: State, value: unknown, level: Level): Event {
  const rendered_description = descriptionHtml(state, level)
  const { rules } = level
  if (rules.descriptionInOneObject)
    return { type: 'realm', op: 'update_dict', property: 'default', data: { description: value, rendered_description } }
  const event = { type: 'realm', op: 'update', property: 'description', value }
  return rules.descriptionRendered ? { ...event, rendered_description } : event
}

/** One event for each change, in the form that clients know from of old. */
function changeNews(
  state: State,
  { settings, permissions, methods }: Extract<OrganizationFact, { type: 'organization.changed' }>,
) {
  const to = everyone(state)
  const inData = (data: object): Announcement => ({
    to,
    event: { type: 'realm', op: 'update_dict', property: 'default', data },
  })
  const news = Object.entries(settings).map(([property, value]): Announcement => {
    switch (property) {
      case 'allow_message_editing':
      case 'message_content_edit_limit_seconds':
        return inData({ [property]: value })
      case 'description':
        return { to, event: ({ level }) => descriptionNews(state, value, level) }
      case 'topics_policy':
        return inData({ topics_policy: value, mandatory_topics: value === 'disable_empty_topic' })
      case 'authentication_methods':
        return inData({ authentication_methods: methods ?? value })
      default:
        return { to, event: { type: 'realm', op: 'update', property, value } }
    }
  })
  for (const [name, value] of Object.entries(permissions)) news.push(inData({ [name]: presentValue(state, value) }))
  return permissions.can_access_all_users_group === undefined ? news : [...news, ...announceLimit(state)]
}

function domainNews(state: State, fields: object): Announcement[] {
  return [{ to: everyone(state), event: { type: 'realm_domains', ...fields } }]
}

function listDomains(state: State) {
  return [...state.domains.values()].map(presentDomain)
}

/** Only what differs from the table is kept. */
function differing(settings: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(settings).filter(
      ([name, value]) => value !== organizationSettings[name as OrganizationSetting]?.default,
    ),
  )
}
