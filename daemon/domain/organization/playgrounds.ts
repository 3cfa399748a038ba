// Code playgrounds: kept by administrators; everyone gets the events.

import { playgrounds as api } from '../../api/organization/playgrounds.ts'
import { limits } from '../limits.ts'
import { variablesOfTemplate } from '../markdown/linkify.ts'
import type { PlaygroundFact } from '../model/facts/organization.ts'
import type { Playground } from '../model/organization-records.ts'
import type { State } from '../model/state.ts'
import { full, invalid, missing, taken } from '../refusal.ts'
import { type Announcement, resource } from '../resource.ts'
import { everyone } from '../rules/audiences.ts'
import * as may from '../rules/index.ts'
import { cleaned, isWebUrl } from '../values/text.ts'

export const playgrounds = resource(api)<PlaygroundFact>({
  commands: {
    add(ctx, params) {
      may.insist(may.administer, ctx)
      if (ctx.state.playgrounds.size >= limits.playgrounds)
        throw full('The organization', limits.playgrounds, 'playgrounds')
      const playground: Playground = {
        id: ctx.state.playgrounds.nextId,
        name: filled('name', params.name),
        language: checkLanguage(params.pygments_language),
        urlTemplate: checkTemplate(params.url_template),
      }
      const { name, language } = playground
      for (const other of ctx.state.playgrounds.values())
        if (other.name === name && other.language === language) throw taken('name', name)
      return { facts: [{ type: 'playground.added', playground }], reply: { id: playground.id } }
    },

    remove(ctx, { playground_id: id }) {
      may.insist(may.administer, ctx)
      if (!ctx.state.playgrounds.has(id)) throw missing('playground_id', 'playground', id)
      return { facts: [{ type: 'playground.removed', id }], reply: {} }
    },
  },

  apply: {
    'playground.added': (state, { playground }) => state.playgrounds.put(playground),
    'playground.removed': (state, { id }) => state.playgrounds.remove(id),
  },

  announce: { 'playground.added': announcePlaygrounds, 'playground.removed': announcePlaygrounds },

  sections: { realm_playgrounds: ({ state }) => ({ realm_playgrounds: present(state) }) },
})

function filled(param: string, given: string): string {
  const text = cleaned(param, given, limits.playgroundText)
  if (text === '') throw invalid(param, 'cannot be blank')
  return text
}

function checkLanguage(given: string): string {
  const language = filled('pygments_language', given)
  if (!/^[\w .+#-]+$/.test(language)) throw invalid('pygments_language', 'must be the name of a language')
  return language
}

function checkTemplate(given: string): string {
  const template = given.trim()
  const variables = variablesOfTemplate(template)
  if (template === '' || !variables) throw invalid('url_template', 'must be a URL template (RFC 6570)')
  if (!isWebUrl(template)) throw invalid('url_template', 'must start with http:// or https://')
  if (!variables.includes('code')) throw invalid('url_template', 'must contain the variable "code"')
  if (variables.some(name => name !== 'code')) throw invalid('url_template', 'can contain no variable but "code"')
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
