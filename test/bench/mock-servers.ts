// Other mock servers to be measured beside ours. They are no dependencies of this project: to get these figures, install them
// in a folder of their own and name it in NATTER_BENCH_TOOLS (or call it test/bench/tools):
//   npm install --prefix FOLDER json-server@0.17 @stoplight/prism-cli @mockoon/cli
// An openapi.yaml in that folder is what Prism and Mockoon serve; without one it is the description of our own API.

import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freshFolder, root, type Server, startSilent } from './processes.ts'
import { NotInstalled } from './row.ts'

const tools = process.env.NATTER_BENCH_TOOLS ?? join(root, 'test/bench/tools')

export interface MockServer {
  readonly name: string
  readonly program: string
  args(port: number): readonly string[]
  /** What it answers with 200 as soon as it is ready. */
  readonly path: string
}

export const mockServers: readonly MockServer[] = [
  jsonServer(20),
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

/** Ready to answer. */
export async function startMockServer({ name, program, args, path }: MockServer): Promise<Server> {
  const file = join(tools, 'node_modules/.bin', program)
  if (!existsSync(file)) throw new NotInstalled(`${name} is not installed`)
  return startSilent(port => [file, ...args(port)], path)
}

/** json-server serves data, not a description: people and messages. */
export function jsonServer(messages: number): MockServer {
  return {
    name: 'json-server',
    program: 'json-server',
    args: port => ['--host', '127.0.0.1', '--port', String(port), '--quiet', database(messages)],
    path: '/users',
  }
}

/** A file of messages as json-server and lowdb keep them. */
export function database(count: number): string {
  const file = join(freshFolder(), 'db.json')
  const users = Array.from({ length: 10 }, (_, id) => ({ id, full_name: `Person ${id}`, is_bot: id > 7 }))
  const messages = Array.from({ length: count }, (_, id) => ({ id, sender_id: id % 10, content: `Message ${id}` }))
  writeFileSync(file, JSON.stringify({ users, messages }))
  return file
}

function openApi(): string {
  const given = join(tools, 'openapi.yaml')
  return existsSync(given) ? given : join(root, 'docs/generated/openapi.json')
}
