// Code playgrounds: kept by administrators; everyone gets the events.

import { playgrounds as api } from '../../api/organization/playgrounds.ts'
import type { Fact } from '../facts.ts'
import { limits } from '../limits.ts'
import { variablesOfTemplate } from '../markdown/linkify.ts'
import type { PlaygroundFact } from '../model/facts/organization.ts'
import type { Playground } from '../model/rows/organization.ts'
import { organizationSetting } from '../model/settings.ts'
import type { State } from '../model/state.ts'
import { full, invalid, invalidForm, missing } from '../refusal.ts'
import { type Announcement, resource } from '../resource.ts'
import { everyone } from '../rules/audiences.ts'
import * as may from '../rules/index.ts'
import { isWebUrl } from '../values/text.ts'

export const playgrounds = resource(api)<PlaygroundFact>({
  commands: {
    add(ctx, params) {
      may.insist(may.administer, ctx)
      if (ctx.state.playgrounds.size >= limits.playgrounds)
        throw full('The organization', limits.playgrounds, 'playgrounds')
      const playground: Playground = {
        id: ctx.state.playgrounds.nextId,
        name: checkFilled('name', params.name, limits.playgroundName),
        language: checkLanguage(params.pygments_language),
        urlTemplate: checkTemplate(params.url_template),
      }
      const { name, language } = playground
      for (const other of ctx.state.playgrounds.values())
        if (other.name === name && other.language === language)
          throw invalidForm('name', 'another playground has this name and language', '__all__')
      return { facts: [{ type: 'playground.added', playground }], reply: { id: playground.id } }
    },

    remove(ctx, { playground_id: id }) {
      may.insist(may.administer, ctx)
      const playground = ctx.state.playgrounds.get(id)
      if (!playground) throw missing('playground_id', 'playground', id)
      const facts: Fact[] = [{ type: 'playground.removed', id }]
      // Code blocks without a language would otherwise keep one that clients no longer offer.
      if (organizationSetting(ctx.state, 'default_code_block_language') === playground.language)
        facts.unshift({ type: 'organization.changed', settings: { default_code_block_language: '' }, permissions: {} })
      return { facts, reply: {} }
    },
  },

  apply: {
    'playground.added': (state, { playground }) => state.playgrounds.put(playground),
    'playground.removed': (state, { id }) => state.playgrounds.remove(id),
  },

  announce: { 'playground.added': announcePlaygrounds, 'playground.removed': announcePlaygrounds },

  sections: { realm_playgrounds: ({ state }) => ({ realm_playgrounds: present(state) }) },
})

function checkFilled(param: string, given: string, limit: number): string {
  const text = given.trim()
  if (text === '') throw invalidForm(param, 'cannot be blank')
  if ([...text].length > limit) throw invalidForm(param, `must be at most ${limit} characters`)
  return text
}

function checkLanguage(given: string): string {
  if (!/^[ \w+,./#-]*$/.test(given))
    throw invalid('pygments_language', 'can contain only letters, digits, spaces and the characters _ + , - . / #')
  return checkFilled('pygments_language', given, limits.playgroundLanguage)
}

function checkTemplate(given: string): string {
  const template = given.trim()
  if (template === '') throw invalidForm('url_template', 'cannot be blank')
  const variables = variablesOfTemplate(template)
  if (!variables) throw invalidForm('url_template', 'must be a URL template (RFC 6570)')
  // OPEN: the public server takes a URL template of any scheme for a playground; clients open it, so here it must be an address of the web.
  if (!isWebUrl(template)) throw invalidForm('url_template', 'must start with http:// or https://')
  if (!variables.includes('code')) throw invalidForm('url_template', 'must contain the variable "code"', '__all__')
  if (variables.some(name => name !== 'code'))
    throw invalidForm('url_template', 'can contain no variable but "code"', '__all__')
  return template
}

function present(state: State) {
  return [...state.playgrounds.values()].map(({ id, name, language, urlTemplate }) => ({
    id,
    name,
    pygments_language: language,
    url_template: urlTemplate,
  }))
}

function announcePlaygrounds(state: State): Announcement[] {
  return [{ to: everyone(state), event: { type: 'realm_playgrounds', realm_playgrounds: present(state) } }]
}
