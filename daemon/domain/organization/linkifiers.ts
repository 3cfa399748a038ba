// Linkifiers: kept in order, changed by administrators; their events go to clients that know URL templates.

import type { ParamsOf } from '../../api/define.ts'
import { linkifiers as api } from '../../api/organization/linkifiers.ts'
import { limits } from '../limits.ts'
import { groupsOfPattern, linkifiersInOrder, sizeOf, variablesOfTemplate } from '../markdown/linkify.ts'
import { safeUrl } from '../markdown/urls.ts'
import type { LinkifierFact } from '../model/facts/organization.ts'
import type { Linkifier } from '../model/rows/organization.ts'
import type { State } from '../model/state.ts'
import { full, inQuotes, invalid, invalidForm, missing } from '../refusal.ts'
import { type Announcement, type Context, onlyWith, resource } from '../resource.ts'
import { everyone } from '../rules/audiences.ts'
import * as may from '../rules/index.ts'

export const linkifiers = resource(api)<LinkifierFact>({
  commands: {
    list: ({ state }) => ({ reply: { linkifiers: present(state) } }),

    add(ctx, params) {
      may.insist(may.administer, ctx)
      if (ctx.state.linkifiers.size >= limits.linkifiers)
        throw full('The organization', limits.linkifiers, 'linkifiers')
      const rule = { ...checkLinkifier(ctx, params.pattern, params.url_template), ...checkReverse(params) }
      const order = (linkifiersInOrder(ctx.state).at(-1)?.order ?? 0) + 1
      const linkifier = { id: ctx.state.linkifiers.nextId, ...rule, order }
      return { facts: [{ type: 'linkifier.added', linkifier }], reply: { id: linkifier.id } }
    },

    update(ctx, params) {
      may.insist(may.administer, ctx)
      const old = findLinkifier(ctx, params.filter_id)
      const rule = checkLinkifier(ctx, params.pattern, params.url_template, old)
      const { id, order } = old
      const linkifier = { id, order, ...rule, ...checkReverse(params, old) }
      const same = serialize(linkifier) === serialize(old)
      return { facts: same ? [] : [{ type: 'linkifier.edited', linkifier }], reply: {} }
    },

    remove(ctx, { filter_id }) {
      may.insist(may.administer, ctx)
      return { facts: [{ type: 'linkifier.removed', id: findLinkifier(ctx, filter_id).id }], reply: {} }
    },

    reorder(ctx, { ordered_linkifier_ids: ids }) {
      may.insist(may.administer, ctx)
      if (new Set(ids).size < ids.length) throw invalid('ordered_linkifier_ids', 'duplicate ID')
      const all = linkifiersInOrder(ctx.state).map(({ id }) => id)
      if (ids.length !== all.length || !all.every(id => ids.includes(id)))
        throw invalid('ordered_linkifier_ids', 'must list the ID of every linkifier once')
      return { facts: ids.length === 0 ? [] : [{ type: 'linkifiers.reordered', ids }], reply: {} }
    },
  },

  apply: {
    'linkifier.added': (state, { linkifier }) => state.linkifiers.put(linkifier),
    'linkifier.edited': (state, { linkifier }) => state.linkifiers.put(linkifier),
    'linkifier.removed': (state, { id }) => state.linkifiers.remove(id),
    'linkifiers.reordered'(state, { ids }) {
      for (const [index, id] of ids.entries()) state.linkifiers.put({ ...state.linkifiers.get(id)!, order: index + 1 })
    },
  },

  announce: {
    'linkifier.added': announceLinkifiers,
    'linkifier.edited': announceLinkifiers,
    'linkifier.removed': announceLinkifiers,
    'linkifiers.reordered': announceLinkifiers,
  },

  sections: {
    realm_linkifiers: ({ state }, client) => ({
      realm_linkifiers: client.linkifierTemplates ? present(state) : [],
    }),
  },
})

function present(state: State) {
  return linkifiersInOrder(state).map(({ id, pattern, urlTemplate, example, reverse, alternatives }) => ({
    id,
    pattern,
    url_template: urlTemplate,
    example_input: example ?? null,
    reverse_template: reverse ?? null,
    alternative_url_templates: [...(alternatives ?? [])],
  }))
}

function announceLinkifiers(state: State): Announcement[] {
  const event = { type: 'realm_linkifiers', realm_linkifiers: present(state) }
  return [{ to: everyone(state), event: onlyWith('linkifierTemplates', event) }]
}

function findLinkifier(ctx: Context, id: number): Linkifier {
  const linkifier = ctx.state.linkifiers.get(id)
  if (!linkifier) throw missing('filter_id', 'linkifier', id)
  return linkifier
}

function checkLinkifier(ctx: Context, givenPattern: string, givenTemplate: string, current?: Linkifier) {
  const pattern = givenPattern.trim()
  const urlTemplate = givenTemplate.trim()
  if (pattern === '') throw invalidForm('pattern', 'cannot be blank')
  if (urlTemplate === '') throw invalidForm('url_template', 'cannot be blank')
  const groups = groupsOfPattern(pattern)
  if ('problem' in groups)
    throw invalidForm('pattern', `must be a regular expression (RE2): ${groups.problem}`, '__all__')
  const namesake = [...ctx.state.linkifiers.values()].find(other => other.pattern === pattern)
  if (namesake && namesake.id !== current?.id)
    throw invalidForm('pattern', 'another linkifier already has this pattern', '__all__')
  const others = [...ctx.state.linkifiers.values()].filter(({ id }) => id !== current?.id)
  if (others.reduce((sum, other) => sum + sizeOf(other), groups.size) > limits.linkifierSize)
    throw invalidForm(
      'pattern',
      'is too long together with the patterns of the other linkifiers; use smaller numbers in {}',
    )
  const variables = variablesOfTemplate(urlTemplate)
  if (!variables) throw invalidForm('url_template', 'must be a URL template (RFC 6570)')
  checkLength('url_template', urlTemplate)
  // Clients make links of it themselves, so it must not be able to run anything.
  if (safeUrl(urlTemplate.replace(/\{[^}]*\}/g, 'x')) === undefined)
    throw invalidForm('url_template', 'must not have a scheme that links cannot have, such as javascript')
  for (const name of groups.names)
    if (!variables.includes(name))
      throw invalidForm('url_template', `must use the group ${inQuotes(name)} of the pattern`, '__all__')
  for (const name of variables)
    if (!groups.names.includes(name))
      throw invalidForm('url_template', `the pattern has no group ${inQuotes(name)}`, '__all__')
  return { pattern, urlTemplate }
}

function checkLength(parameter: string, text: string): void {
  if (text.length > limits.linkifierTemplate)
    throw invalidForm(parameter, `must be at most ${limits.linkifierTemplate} characters`)
}

/** Rows have their keys in any order. */
function serialize({ pattern, urlTemplate, example, reverse, alternatives }: Linkifier): string {
  return JSON.stringify([pattern, urlTemplate, example, reverse, alternatives])
}

type Reverse = Pick<Linkifier, 'example' | 'reverse' | 'alternatives'>

/** What turns pasted URLs into text. An empty text takes it away. */
function checkReverse(params: Partial<ParamsOf<typeof api.add>>, current: Reverse = {}): Reverse {
  const example = params.example_input ?? current.example ?? ''
  const reverse = params.reverse_template ?? current.reverse ?? ''
  const alternatives = params.alternative_url_templates ?? current.alternatives ?? []
  if (reverse !== '' && example === '') throw invalidForm('reverse_template', 'needs example_input')
  checkLength('example_input', example)
  checkLength('reverse_template', reverse)
  for (const template of alternatives) {
    checkLength('alternative_url_templates', template)
    if (!variablesOfTemplate(template))
      throw invalidForm('alternative_url_templates', 'must be URL templates (RFC 6570)')
  }
  return {
    ...(example !== '' && { example }),
    ...(reverse !== '' && { reverse }),
    ...(alternatives.length > 0 && { alternatives }),
  }
}
