// Video calls: signed addresses, as the public server makes them. No BigBlueButton server is configured, so they lead nowhere.

import { videoCalls as api } from '../../api/organization/video-calls.ts'
import { resource } from '../resource.ts'

export const videoCalls = resource(api)<never>({
  commands: {
    create({ actor, keys, random }, { meeting_name, voice_only }) {
      const call = {
        meeting_id: random(),
        name: meeting_name,
        lock_settings_disable_cam: voice_only,
        moderator: actor.id,
      }
      const content = encodeURIComponent(JSON.stringify(call))
      return { reply: { url: `/calls/bigbluebutton/join?bigbluebutton=${content}:${keys.digestText(content)}` } }
    },
  },
  apply: {},
  announce: {},
})
