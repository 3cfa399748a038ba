// Sections of `register` about what this server does not do: always the same, so that clients find what they look for.

import type { Sections } from '../resource.ts'

/** Words too common to be searched for. */
const stopWords =
  'a about after all also an and any are as at be because been but by can could did do does for from had has have he her here him his how i if in into is it its just like me more most my no not of on one only or other our out over she should so some such than that the their them then there these they this to too up us was we were what when which who will with would you your'

export const constantSections: Sections = {
  giphy: () => ({ giphy_api_key: '' }),
  device: () => ({ devices: {} }),
  klipy: () => ({ klipy_api_key: '' }),
  tenor: () => ({ tenor_api_key: '' }),
  realm_billing: () => ({ realm_billing: { has_pending_sponsorship_request: false } }),
  realm_embedded_bots: () => ({ realm_embedded_bots: [] }),
  realm_filters: () => ({ realm_filters: [] }),
  stop_words: () => ({ stop_words: stopWords.split(' ') }),
  video_calls: () => ({ has_zoom_token: false, has_webex_token: false }),
}

export const videoChatProviders = {
  disabled: { name: 'None', id: 0 },
  jitsi_meet: { name: 'Jitsi Meet', id: 1 },
} as const

export const jitsiServerUrl = 'https://meet.jit.si'

export const giphyRatings = {
  disabled: { name: 'GIPHY integration disabled', id: 0 },
  y: { name: 'Allow GIFs rated Y (Very young audience)', id: 1 },
  g: { name: 'Allow GIFs rated G (General audience)', id: 2 },
  pg: { name: 'Allow GIFs rated PG (Parental guidance)', id: 3 },
  'pg-13': { name: 'Allow GIFs rated PG13 (Parental guidance - under 13)', id: 4 },
  r: { name: 'Allow GIFs rated R (Restricted)', id: 5 },
} as const

/** From the level on at which several providers share them. */
export const gifRatings = {
  disabled: { name: 'Disabled', id: 0 },
  g: { name: 'Allow GIFs rated G (General audience)', id: 1 },
  pg: { name: 'Allow GIFs rated PG (Parental guidance)', id: 2 },
  'pg-13': { name: 'Allow GIFs rated PG-13 (Parental guidance - under 13)', id: 3 },
  r: { name: 'Allow GIFs rated R (Restricted)', id: 4 },
} as const
