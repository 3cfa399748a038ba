// Recordings of calls and answers, for natter record.

import { controlEndpoint } from '../control-endpoint.ts'
import { int } from '../define.ts'

export const recording = {
  read: controlEndpoint({
    id: 'read-recording',
    route: 'GET /recording',
    summary: 'Print every call from now on with its answer, as lines of JSON, until the recording is ended',
    cli: {
      name: 'recording print',
      examples: ['natter recording print', "natter recording print | jq -c '[.user, .endpoint, .status]'"],
      timeout: 86_400_000,
      raw: true,
    },
  }),
  end: controlEndpoint({
    id: 'end-recording',
    route: 'DELETE /recording',
    summary: 'End all recordings; each gets a last line that says it is complete',
    reply: { ended: int },
    cli: { name: 'recording end', examples: ['natter recording end', 'natter recording end --json'] },
  }),
}
