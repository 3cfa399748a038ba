// Video calls.

import { bool, defaulted, endpoint, required, text, textUpTo } from '../define.ts'

export const videoCalls = {
  create: endpoint({
    id: 'create-big-blue-button-video-call',
    route: 'GET /calls/bigbluebutton/create',
    summary: 'Make the address of a new BigBlueButton video call',
    params: {
      meeting_name: required(textUpTo(1000), 'the name of the call'),
      voice_only: defaulted(bool, false, 'a call without cameras'),
    },
    reply: { url: text },
    cli: {
      name: 'calls create',
      examples: ["natter calls create 'Design review'", "natter calls create 'Design review' --voice-only --json"],
    },
  }),
}
