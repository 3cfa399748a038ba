// Clients of the Model Context Protocol for tests: the protocol's own library, over stdio and over HTTP, of either era.

import type { TestContext } from 'node:test'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import type { TestDaemon } from './daemon.ts'

export const eras = ['legacy', { pin: '2026-07-28' }] as const
export type Era = (typeof eras)[number]

export function eraName(era: Era): string {
  return era === 'legacy' ? '2025, with a session' : '2026, without one'
}

/** The subcommand as an agent starts it, until the test ends. */
export async function overStdio(t: TestContext, ...how: Parameters<typeof startStdio>): Promise<Client> {
  const client = await startStdio(...how)
  t.after(() => client.close())
  return client
}

/** The same until the caller closes it. */
export async function startStdio(
  env: Readonly<Record<string, string>>,
  args: readonly string[] = [],
  era: Era = 'legacy',
): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: era } })
  const { PATH = '', HOME = '' } = process.env
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: ['bin/natter', 'mcp', ...args],
    env: { PATH, HOME, ...env },
    stderr: 'ignore',
  })
  await client.connect(transport)
  return client
}

export async function overHttp(t: TestContext, url: string, key: string, era: Era = 'legacy'): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: era } })
  const requestInit = { headers: { Authorization: `Bearer ${key}` } }
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }))
  t.after(() => client.close())
  return client
}

export function ownerOf({ ready }: TestDaemon): Record<string, string> {
  return { NATTER_SITE: ready.url, NATTER_EMAIL: ready.owner.email, NATTER_API_KEY: ready.owner.api_key }
}

export interface ToolAnswer {
  readonly text: string
  readonly data: any
  readonly failed: boolean
}

export async function use(client: Client, name: string, args: Record<string, unknown> = {}): Promise<ToolAnswer> {
  const result = (await client.callTool({ name, arguments: args })) as {
    content: { text: string }[]
    structuredContent?: unknown
    isError?: boolean
  }
  return { text: result.content[0]!.text, data: result.structuredContent, failed: result.isError === true }
}
