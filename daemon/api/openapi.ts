// The catalogue as OpenAPI 3.1, at any level. Shapes are JSON Schema already; what is ours alone is renamed or taken out.

import type { TSchema } from '@sinclair/typebox'
import { baseOf, type Endpoint, type Page, type Param } from './define.ts'
import { type CodeEntry, commonCodes, type ErrorCode, errorCodes } from './errors.ts'
import { endpointAt } from './levels/endpoint-at.ts'
import { defaultLevel } from './levels/releases.ts'
import { Type } from './shape-builders.ts'

/** One page of the catalogue, loaded. */
export interface CatalogueResource {
  readonly name: string
  readonly about: string
  readonly endpoints: readonly Endpoint[]
}

export async function loadPages(contents: Readonly<Record<string, Page>>): Promise<readonly CatalogueResource[]> {
  const resources: CatalogueResource[] = []
  for (const [name, { about, load }] of Object.entries(contents))
    resources.push({ name, about, endpoints: Object.values(await load()) })
  return resources
}

type Json = Record<string, unknown>

export function openApi(resources: readonly CatalogueResource[], level = defaultLevel): Json {
  const known = resources.map(resource => ({
    ...resource,
    endpoints: resource.endpoints.flatMap(endpoint => endpointAt(endpoint, level) ?? []),
  }))
  return document(known, level, {
    title: 'Natter',
    summary: 'Team chat on a JSON-file store',
    security: { basic: { type: 'http', scheme: 'basic', description: 'email address and API key' } },
    success: { ignored_parameters_unsupported: { type: 'array', items: { type: 'string' } } },
  })
}

export function controlOpenApi(resources: readonly CatalogueResource[]): Json {
  return document(resources, defaultLevel, {
    title: 'Natter control plane',
    summary: 'What a test can ask of a daemon beside the API',
    security: { token: { type: 'http', scheme: 'bearer', description: 'control_token of the ready file' } },
    success: {},
  })
}

interface About {
  readonly title: string
  readonly summary: string
  readonly security: Json
  /** Fields that any successful reply may have. */
  readonly success: Json
}

function document(
  resources: readonly CatalogueResource[],
  level: number,
  { title, summary, security, success }: About,
): Json {
  const paths: Record<string, Json> = {}
  const webhooks: Record<string, Json> = {}
  const all = resources.flatMap(({ name, endpoints }) => endpoints.map(endpoint => ({ name, endpoint })))
  for (const { name, endpoint } of all)
    if (endpoint.served === 'outgoing') webhooks[endpoint.id] = { post: outgoing(endpoint, name) }
    else {
      // OpenAPI has no word for a parameter that takes the rest of the path.
      const path = endpoint.path.replace('...}', '}')
      paths[path] = { ...paths[path], [endpoint.method.toLowerCase()]: operation(endpoint, name) }
    }
  return {
    openapi: '3.1.0',
    info: { title, version: String(level), summary, license: { name: 'MIT', identifier: 'MIT' } },
    servers: [{ url: `http://127.0.0.1:9991${baseOf(all[0]!.endpoint)}` }],
    tags: resources.map(({ name, about }) => ({ name, description: about })),
    paths,
    ...(Object.keys(webhooks).length > 0 && { webhooks }),
    components: {
      securitySchemes: security,
      schemas: {
        Success: object({ result: { const: 'success' }, msg: { const: '' } }, ['result', 'msg'], success),
        Error: object(
          { result: { const: 'error' }, msg: { type: 'string' }, code: { $ref: '#/components/schemas/ErrorCode' } },
          ['result', 'msg', 'code'],
        ),
        ErrorCode: { type: 'string', enum: Object.keys(errorCodes) },
      },
      responses: {
        Refused: { description: 'Refused', content: json({ $ref: '#/components/schemas/Error' }) },
        ...Object.fromEntries(
          Object.entries(byStatus(commonCodes)).map(([status, codes]) => [`Refused${status}`, describeRefusals(codes)]),
        ),
      },
    },
  }
}

const security: Readonly<Record<Endpoint['access'], Json[]>> = {
  user: [{ basic: [] }],
  anyone: [],
  control: [{ token: [] }],
  // The key is a parameter.
  key: [],
}

function operation(endpoint: Endpoint, tag: string): Json {
  const parameters = listParameters(endpoint)
  const requestBody = describeBody(endpoint)
  return {
    operationId: endpoint.id,
    summary: endpoint.summary,
    tags: [tag],
    ...(endpoint.access !== 'control' && { 'x-since-level': endpoint.since }),
    'x-cli': `natter ${endpoint.cli.name}`,
    security: security[endpoint.access],
    ...(endpoint.deprecated !== undefined && { deprecated: true }),
    ...(parameters.length > 0 && { parameters }),
    ...(requestBody && { requestBody }),
    responses: { 200: success(endpoint), ...refusals(endpoint), default: { $ref: '#/components/responses/Refused' } },
  }
}

/** A request that natterd sends: its parameters are the fields of a JSON body. */
function outgoing(endpoint: Endpoint, tag: string): Json {
  const schema = formSchema(Object.entries(endpoint.params))
  return {
    operationId: endpoint.id,
    summary: endpoint.summary,
    tags: [tag],
    requestBody: { required: true, content: json(schema) },
    responses: { 200: { description: 'Done', content: json(describeSchema(Type.Object({ ...endpoint.reply }))) } },
  }
}

// --- parameters -------------------------------------------------------------------------------------------------

/** Natter reads a body with every method; OpenAPI gives one a meaning only where HTTP does. */
function hasBody({ method }: Endpoint): boolean {
  return method !== 'GET' && method !== 'DELETE'
}

function listParameters(endpoint: Endpoint): Json[] {
  return Object.entries(endpoint.params)
    .filter(([, { presence }]) => presence === 'path' || !hasBody(endpoint))
    .map(([name, param]) => ({
      name,
      in: param.presence === 'path' ? 'path' : 'query',
      description: about(param),
      required: param.presence === 'path' || param.presence === 'required',
      ...(param.deprecated !== undefined && { deprecated: true }),
      ...(isPlain(param.shape)
        ? { schema: paramSchema(param) }
        : { content: { 'application/json': { schema: paramSchema(param) } } }),
    }))
}

function describeBody(endpoint: Endpoint): Json | undefined {
  const params = Object.entries(endpoint.params).filter(([, { presence }]) => presence !== 'path')
  if (!hasBody(endpoint) || params.length === 0) return undefined
  if (endpoint.access === 'control')
    return { required: params.some(([, { presence }]) => presence === 'required'), content: json(formSchema(params)) }
  const type = params.some(([, { shape }]) => isFile(shape))
    ? 'multipart/form-data'
    : 'application/x-www-form-urlencoded'
  const asJson = params.filter(([, { shape }]) => !isPlain(shape) && !isFile(shape))
  const encoding = Object.fromEntries(asJson.map(([name]) => [name, { contentType: 'application/json' }]))
  return {
    required: params.some(([, { presence }]) => presence === 'required'),
    content: { [type]: { schema: formSchema(params), ...(asJson.length > 0 && { encoding }) } },
  }
}

function formSchema(params: readonly (readonly [string, Param])[]): Json {
  const needed = params.filter(([, { presence }]) => presence === 'required').map(([name]) => name)
  const properties = params.map(([name, param]) => [
    name,
    { ...paramSchema(param), description: about(param), ...(param.deprecated !== undefined && { deprecated: true }) },
  ])
  return { ...object(Object.fromEntries(properties), needed) }
}

function paramSchema({ shape, presence, fallback }: Param): Json {
  return { ...describeSchema(shape), ...(presence === 'defaulted' && { default: fallback }) }
}

function about(param: Param): string {
  return param.alias === undefined ? param.about : `${param.about} (older spelling: ${param.alias})`
}

/** Travels as the text a form would show for it anyway. */
function isPlain(shape: TSchema): boolean {
  if (Array.isArray(shape.anyOf)) return shape.anyOf.every(part => part.const !== undefined)
  return ['string', 'integer', 'number', 'boolean'].includes(shape.type) && !isFile(shape)
}

function isFile(shape: TSchema): boolean {
  return shape.format === 'binary'
}

// --- replies ----------------------------------------------------------------------------------------------------

function success({ reply }: Endpoint): Json {
  const own = Object.keys(reply).length > 0 ? [describeSchema(Type.Object({ ...reply }))] : []
  return { description: 'Done', content: json({ allOf: [{ $ref: '#/components/schemas/Success' }, ...own] }) }
}

/** One response per status. Where an endpoint adds no code of its own, the one that all share. */
function refusals({ access, refusals }: Endpoint): Json {
  const shared = commonCodes.filter(code => access !== 'anyone' || errorCodes[code].status !== 401)
  const all = byStatus([...new Set([...refusals, ...shared])])
  const ownStatuses = new Set(refusals.filter(code => !shared.includes(code)).map(code => errorCodes[code].status))
  return Object.fromEntries(
    Object.entries(all).map(([status, codes]) => [
      status,
      ownStatuses.has(Number(status) as never)
        ? describeRefusals(codes)
        : { $ref: `#/components/responses/Refused${status}` },
    ]),
  )
}

function byStatus(codes: readonly ErrorCode[]): Record<string, ErrorCode[]> {
  const found: Record<string, ErrorCode[]> = {}
  for (const code of codes) {
    const { status }: CodeEntry = errorCodes[code]
    found[status] = [...(found[status] ?? []), code]
  }
  return found
}

function describeRefusals(codes: readonly ErrorCode[]): Json {
  const schema = { allOf: [{ $ref: '#/components/schemas/Error' }, { properties: { code: { enum: codes } } }] }
  return { description: `Refused: ${codes.join(', ')}`, content: json(schema) }
}

// --- schemas ----------------------------------------------------------------------------------------------------

function describeSchema(shape: TSchema): Json {
  const { ref, anyOf, items, properties, patternProperties, minimum, maximum, ...more } = shape
  const { since, until: _until, earlier: _earlier, leftOut: _leftOut, ...rest } = more
  if (isFile(shape)) return { type: 'string', contentMediaType: 'application/octet-stream' }
  if (Array.isArray(anyOf)) return { ...rest, ...union(anyOf) }
  const values = keyedBy(shape)
  return {
    ...rest,
    ...(since !== undefined && { 'x-since-level': since }),
    // The bounds of what JSON can carry go without saying.
    ...(Math.abs(minimum) < Number.MAX_SAFE_INTEGER && { minimum }),
    ...(Math.abs(maximum) < Number.MAX_SAFE_INTEGER && { maximum }),
    ...(ref !== undefined && { 'x-refers-to': ref }),
    ...(items && { items: describeSchema(items) }),
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, part]) => [name, describeSchema(part as TSchema)]),
      ),
    }),
    ...(values && { additionalProperties: describeSchema(values) }),
  }
}

function union(parts: readonly TSchema[]): Json {
  if (!parts.every(part => part.const !== undefined)) return { anyOf: parts.map(describeSchema) }
  const types = [...new Set(parts.map(part => (typeof part.const === 'string' ? 'string' : 'integer')))]
  return { type: types.length === 1 ? types[0] : types, enum: parts.map(part => part.const) }
}

function object(properties: Json, required: readonly string[], more: Json = {}): Json {
  return { type: 'object', ...(required.length > 0 && { required }), properties: { ...properties, ...more } }
}

function json(schema: Json): Json {
  return { 'application/json': { schema } }
}

/** The shape of the values, when the keys are data. */
export function keyedBy(shape: TSchema): TSchema | undefined {
  return shape.patternProperties && (Object.values(shape.patternProperties)[0] as TSchema)
}
