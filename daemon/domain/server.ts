// The server itself.

import { featureLevel, svcMergeBase, svcVersion } from '../api/levels.ts'
import { server as api } from '../api/server.ts'
import { resource } from './resource.ts'
import { organizationSetting } from './settings-lookup.ts'

export const server = resource(api)<never>({
  commands: {
    settings: ({ state, server }) => ({
      reply: {
        authentication_methods: {
          password: true,
          dev: server.devAuth,
          email: true,
          ldap: false,
          remoteuser: false,
          saml: false,
          'openid connect': false,
          github: false,
          google: false,
          gitlab: false,
          apple: false,
          azuread: false,
        },
        external_authentication_methods: [],
        svc_feature_level: featureLevel,
        svc_version: svcVersion,
        svc_merge_base: svcMergeBase,
        push_notifications_enabled: false,
        is_incompatible: false,
        email_auth_enabled: true,
        require_email_format_usernames: true,
        realm_uri: server.url,
        realm_url: server.url,
        realm_name: organizationSetting(state, 'name'),
        realm_icon: `${server.url}/static/icon.svg`,
        realm_description: paragraph(organizationSetting(state, 'description')),
        realm_web_public_access_enabled: false,
      },
    }),
  },
  apply: {},
  announce: {},
})

function paragraph(source: string): string {
  return source === '' ? '' : `<p>${source.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</p>`
}
