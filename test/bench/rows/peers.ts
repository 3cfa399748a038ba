// The start of the fixture beside that of other mock servers.

import { mockServers, startMockServer } from '../mock-servers.ts'
import { alternate, type Row } from '../row.ts'
import { spawned, timed } from './fixture.ts'

export const peers: readonly Row[] = mockServers.map(peer => ({
  name: `natterd start, --memory --preset dev, beside ${peer.name}`,
  reference: `${peer.name} start`,
  goal: { atMost: 1 },
  unit: 'ms',
  measure: effort =>
    alternate(effort.rounds(5, 2), spawned, () =>
      timed(
        () => startMockServer(peer),
        async () => {},
      ),
    ),
}))
