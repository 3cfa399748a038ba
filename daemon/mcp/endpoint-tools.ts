// Tools that are endpoints of the catalogue: the toolset `control`, and the tool `call_api` for any endpoint by its name.

import { problemIn } from '../api/checking.ts'
import { controlPages } from '../api/control.ts'
import { type Endpoint, loadEndpoints } from '../api/define.ts'
import { impactOf } from '../api/impact.ts'
import { catalogue } from '../api/index.ts'
import { encodeJson } from '../api/json-wire.ts'
import { Type } from '../api/shape-builders.ts'
import { encode } from '../api/wire.ts'
import { unknownName } from '../local/did-you-mean.ts'
import { cut } from './text.ts'
import { type Tool, type ToolCall, type ToolResult, tool } from './tool.ts'
import { ToolError } from './tool-error.ts'

/** Names of tools, and the endpoints of the control plane behind them, in the order in which they are listed. */
const controlEndpoints: readonly (readonly [string, keyof typeof controlPages, string])[] = [
  ['show_clock', 'clock', 'show'],
  ['freeze_clock', 'clock', 'freeze'],
  ['advance_clock', 'clock', 'advance'],
  ['resume_clock', 'clock', 'resume'],
  ['list_faults', 'faults', 'list'],
  ['add_fault', 'faults', 'add'],
  ['remove_faults', 'faults', 'remove'],
  ['list_snapshots', 'snapshots', 'list'],
  ['save_snapshot', 'snapshots', 'save'],
  ['restore_snapshot', 'snapshots', 'restore'],
  ['compare_snapshots', 'snapshots', 'diff'],
  ['explain', 'why', 'explain'],
  ['list_spaces', 'spaces', 'list'],
  ['create_space', 'spaces', 'create'],
  ['delete_space', 'spaces', 'delete'],
]

export async function controlTools(): Promise<Tool[]> {
  const tools: Tool[] = []
  for (const [name, page, key] of controlEndpoints) {
    const endpoint = ((await controlPages[page].load()) as Record<string, Endpoint>)[key]
    if (endpoint) tools.push(controlTool(name, endpoint))
  }
  return tools
}

function controlTool(name: string, endpoint: Endpoint): Tool {
  return {
    name,
    toolset: 'control',
    title: endpoint.summary,
    description: `${endpoint.summary}. For servers that are Natter with an open control plane.`,
    impact: impactOf(endpoint),
    input: describeInput(endpoint),
    output: Type.Object({}, { additionalProperties: true }),
    async run({ chat, signal }, args) {
      if (!chat.control)
        throw new ToolError('The control plane is closed here. Start the daemon with --control, and give its token.')
      const { path, query, body } = encodeJson(endpoint, args)
      return shown(
        await chat.control({ method: endpoint.method, path: `${path}${query}`, ...(body && { params: body }), signal }),
      )
    },
  }
}

/** The endpoint's params as the arguments of a tool. */
function describeInput({ params }: Endpoint) {
  const fields = Object.entries(params).map(([name, { shape, presence, about }]) => {
    const described = { ...shape, description: about }
    return [name, presence === 'required' || presence === 'path' ? described : Type.Optional(described)]
  })
  return Type.Object(Object.fromEntries(fields))
}

/** Makes the tool that calls any endpoint. `mayWrite`: whether it can call those that change something. */
export function apiTool(mayWrite: boolean): Tool {
  return tool({
    name: 'call_api',
    toolset: 'api',
    title: 'Call any endpoint',
    description:
      'Calls an endpoint of the chat API by its name, such as get-user-presence. With describe true it returns the parameters of the endpoint instead; with a part of a name and describe true, the endpoints that contain it.',
    impact: mayWrite ? 'destroy' : 'read',
    input: Type.Object({
      endpoint: Type.String({ maxLength: 100 }),
      params: Type.Optional(Type.Record(Type.String({ maxLength: 100 }), Type.Unknown())),
      describe: Type.Optional(Type.Boolean()),
    }),
    output: Type.Object({}, { additionalProperties: true }),
    async run(call, { endpoint: id, params = {}, describe = false }) {
      const endpoints = await allEndpoints()
      const endpoint = endpoints.get(id)
      if (describe) return endpoint ? shown(describeEndpoint(endpoint)) : shown(listEndpoints(id, endpoints))
      if (!endpoint) throw new ToolError(unknownName('endpoint', id, endpoints.keys()))
      if (!mayWrite && impactOf(endpoint) !== 'read')
        throw new ToolError(`${id} changes something, and this server only reads. Start it with the toolset write.`)
      return callEndpoint(call, endpoint, params)
    },
  })
}

async function callEndpoint({ chat, signal }: ToolCall, endpoint: Endpoint, params: Readonly<Record<string, unknown>>) {
  for (const [name, value] of Object.entries(params)) {
    const param = Object.hasOwn(endpoint.params, name) ? endpoint.params[name] : undefined
    if (!param) throw new ToolError(unknownName('parameter', name, Object.keys(endpoint.params)))
    const problem = problemIn(name, param.shape, value)
    if (problem) throw new ToolError(problem)
  }
  for (const [name, { presence }] of Object.entries(endpoint.params))
    if ((presence === 'required' || presence === 'path') && params[name] === undefined)
      throw new ToolError(`${name}: required. Call again with describe true to see all parameters.`)
  const { path, fields } = encode(endpoint, params)
  return shown(await chat.call({ method: endpoint.method, path, params: Object.fromEntries(fields), signal }))
}

// Shared by all worlds: the catalogue is the same for all of them.
let known: Promise<Map<string, Endpoint>> | undefined

function allEndpoints(): Promise<Map<string, Endpoint>> {
  known ??= loadEndpoints(Object.values(catalogue)).then(
    endpoints => new Map(endpoints.filter(endpoint => !takesFile(endpoint)).map(endpoint => [endpoint.id, endpoint])),
  )
  return known
}

/** A tool has no file to send. */
function takesFile({ params }: Endpoint): boolean {
  return Object.values(params).some(({ shape }) => shape.format === 'binary')
}

function describeEndpoint(endpoint: Endpoint) {
  const { id, method, path, summary } = endpoint
  return { id, call: `${method} ${path}`, summary, impact: impactOf(endpoint), params: describeInput(endpoint) }
}

function listEndpoints(part: string, endpoints: ReadonlyMap<string, Endpoint>) {
  const words = part.toLowerCase().split(/[\s_-]+/)
  const found = [...endpoints.values()].filter(({ id, summary }) =>
    words.every(word => `${id} ${summary}`.toLowerCase().includes(word)),
  )
  return { endpoints: found.slice(0, 50).map(({ id, summary }) => ({ id, summary })), total_count: found.length }
}

/** Characters of a reply. */
const mostShown = 50_000

function shown(reply: object): ToolResult {
  const { text, missing } = cut(JSON.stringify(reply), mostShown)
  if (missing === 0) return { text, data: reply as Record<string, unknown> }
  const note = `The reply has ${missing} more characters. Ask for less.`
  return { text: `${text}\n(${note})`, data: { cut: note } }
}
