// The server itself.

import type { Level } from '../../api/levels/level.ts'
import { server as api } from '../../api/organization/server.ts'
import { renderDescription } from '../markdown/index.ts'
import { organizationSetting } from '../model/settings.ts'
import type { State } from '../model/state.ts'
import { resource, type ServerFacts } from '../resource.ts'
import { allowsWebPublic } from '../rules/index.ts'
import { enabledMethods, presentMethods } from './authentication.ts'
import { iconUrl } from './pictures.ts'

export const server = resource(api)<never>({
  commands: {
    settings: ({ state, server }) => ({
      reply: {
        authentication_methods: usableMethods(state, server),
        external_authentication_methods: [],
        ...server.level.reported,
        push_notifications_enabled: false,
        is_incompatible: false,
        email_auth_enabled: enabledMethods(state).Email!,
        require_email_format_usernames: true,
        realm_uri: server.url,
        realm_url: server.url,
        realm_name: organizationSetting(state, 'name'),
        realm_icon: iconUrl(state, server.url),
        realm_description: descriptionHtml(state, server.level),
        realm_web_public_access_enabled: allowsWebPublic(state) && hasWebPublicChannel(state),
      },
    }),
  },
  apply: {},
  announce: {},
})

export function descriptionHtml(state: State, level: Level): string {
  const source = organizationSetting(state, 'description')
  return renderDescription(state, state.organization, source, level)
}

/** By their names in lower case; `password` for whatever takes one. */
function usableMethods(state: State, server: ServerFacts): Record<string, boolean> {
  const usable: Record<string, boolean> = { password: enabledMethods(state).Email! }
  for (const [name, { enabled, available }] of Object.entries(presentMethods(state, server)))
    usable[name.toLowerCase()] = enabled && available
  return server.level.rules.discordShown ? { ...usable, discord: false } : usable
}

function hasWebPublicChannel(state: State): boolean {
  for (const { webPublic, archived } of state.channels.values()) if (webPublic && !archived) return true
  return false
}
