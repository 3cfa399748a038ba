// The start of the fixture beside that of other mock servers. They are no dependencies of this project: to get these
// figures, install them in a folder of their own and name it in NATTER_BENCH_TOOLS (or call it test/bench/tools):
//   npm install --prefix FOLDER json-server @stoplight/prism-cli @mockoon/cli
// An openapi.yaml in that folder is what Prism and Mockoon serve; without one it is the description of our own API.

import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freshFolder, root, startSilent } from '../processes.ts'
import { alternate, NotInstalled, type Row } from '../row.ts'
import { spawned, timed } from './fixture.ts'

const tools = process.env.NATTER_BENCH_TOOLS ?? join(root, 'test/bench/tools')

interface Peer {
  readonly name: string
  readonly program: string
  args(port: number): readonly string[]
  /** What it answers with 200 as soon as it is ready. */
  readonly path: string
}

const mockServers: readonly Peer[] = [
  {
    name: 'json-server',
    program: 'json-server',
    args: port => ['--host', '127.0.0.1', '--port', String(port), database()],
    path: '/users',
  },
  {
    name: 'Prism',
    program: 'prism',
    args: port => ['mock', '--host', '127.0.0.1', '--port', String(port), openApi()],
    path: '/server_settings',
  },
  {
    name: 'Mockoon',
    program: 'mockoon-cli',
    args: port => ['start', '--hostname', '127.0.0.1', '--port', String(port), '--data', openApi()],
    path: '/api/v1/server_settings',
  },
]

export const peers: readonly Row[] = mockServers.map(peer => ({
  name: `natterd start, --memory --preset dev, beside ${peer.name}`,
  reference: `${peer.name} start`,
  goal: { atMost: 1 },
  unit: 'ms',
  async measure(effort) {
    const program = join(tools, 'node_modules/.bin', peer.program)
    if (!existsSync(program)) throw new NotInstalled('not installed')
    const start = () => startSilent(port => [program, ...peer.args(port)], peer.path)
    return alternate(effort.rounds(5, 2), spawned, () => timed(start, async () => {}))
  },
}))

function openApi(): string {
  const given = join(tools, 'openapi.yaml')
  return existsSync(given) ? given : join(root, 'docs/generated/openapi.json')
}

/** json-server serves data, not a description: about as much as the preset holds. */
function database(): string {
  const file = join(freshFolder(), 'db.json')
  const users = Array.from({ length: 10 }, (_, id) => ({ id, full_name: `Person ${id}`, is_bot: id > 7 }))
  const messages = Array.from({ length: 20 }, (_, id) => ({ id, sender_id: id % 10, content: `Message ${id}` }))
  writeFileSync(file, JSON.stringify({ users, messages }))
  return file
}
