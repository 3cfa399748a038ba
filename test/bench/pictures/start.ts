// The time of programs from spawn to their first answer.

import { mockServers, startMockServer } from '../mock-servers.ts'
import { gather, type Picture, pointOf, repeat } from '../picture.ts'
import { authorization, freshFolder, referencePath, request, startDaemon, startServer } from '../processes.ts'
import { spawned, timed } from '../rows/fixture.ts'

const bare = () =>
  timed(
    () => startServer([referencePath('bare-http')]),
    ({ ready }) => request(ready.url),
  )
const stored = () =>
  timed(
    () => startDaemon(['--no-profile', '--data', freshFolder()]),
    ({ ready }) => request(`${ready.url}/api/v1/users/me`, { Authorization: authorization(ready) }),
  )

export const start: Picture = {
  name: 'start',
  title: 'Start: from spawn to the first answer',
  about: 'Prism and Mockoon serve the description of this API, json-server a file of ten people and twenty messages.',
  kind: 'bars',
  x: { title: '' },
  y: { title: 'milliseconds' },
  measure(effort) {
    const rounds = effort.rounds(7, 2)
    const line = (name: string, measure: () => Promise<number>) => async () => [
      pointOf(name, name, await repeat(rounds, measure)),
    ]
    return gather([
      line('bare node:http', bare),
      line('natterd, empty store', stored),
      line('natterd, preset dev', spawned),
      ...mockServers.map(server =>
        line(server.name, () =>
          timed(
            () => startMockServer(server),
            async () => {},
          ),
        ),
      ),
    ])
  },
}
