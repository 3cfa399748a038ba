// The server: settings that anyone can read before logging in.

import { bool, endpoint, int, keyed, listOf, nullable, record, text } from '../define.ts'

export const server = {
  settings: endpoint({
    id: 'get-server-settings',
    route: 'GET /server_settings',
    access: 'anyone',
    summary: 'Get the settings of the server; no account needed',
    reply: {
      authentication_methods: keyed(bool),
      external_authentication_methods: listOf(
        record({ name: text, display_name: text, display_icon: nullable(text), login_url: text, signup_url: text }),
      ),
      svc_feature_level: int,
      svc_version: text,
      svc_merge_base: text,
      push_notifications_enabled: bool,
      is_incompatible: bool,
      email_auth_enabled: bool,
      require_email_format_usernames: bool,
      realm_uri: text,
      realm_url: text,
      realm_name: text,
      realm_icon: text,
      realm_description: text,
      realm_web_public_access_enabled: bool,
    },
    cli: { name: 'server settings', examples: ['natter server settings', 'natter server settings --json'] },
  }),
}
