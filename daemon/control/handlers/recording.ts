// Handlers of `api/control/recording.ts`.

import { recording as api } from '../../api/control/recording.ts'
import { clockReply } from './clock.ts'
import { resource, Streamed } from './handler.ts'

export const recording = resource(api, {
  read({ plane }) {
    plane.calls.recordings.mustHaveRoom()
    const head = { version: plane.parts.version, clock: clockReply(plane) }
    return new Streamed('application/x-ndjson', plane.calls.recordings.read(head))
  },
  end: ({ plane }) => ({ ended: plane.calls.recordings.stop() }),
})
