// api.md: every endpoint, by resource.

import { Type } from '@sinclair/typebox'
import { defaultBounds } from '../../daemon/api/bounds.ts'
import { faultKinds } from '../../daemon/api/control/faults.ts'
import type { Endpoint, Param } from '../../daemon/api/define.ts'
import { events } from '../../daemon/api/events.ts'
import { defaultLevel } from '../../daemon/api/levels/releases.ts'
import { type Marked, spanText, withSpan } from '../../daemon/api/levels/span.ts'
import { resources as served } from '../../daemon/domain/index.ts'
import { anchor, code, codeBlock, page, table } from './markdown.ts'
import { curlLines, sampleOf } from './samples.ts'
import { fieldsOf, shapeText } from './shape-text.ts'
import type { CatalogueResource } from './sources.ts'

export function apiPage(resources: readonly CatalogueResource[]): string {
  return page(
    'API reference',
    `What feature level ${defaultLevel} has, the default of natterd, and what came after it, marked with its level; see [Feature levels](../levels.md).
All paths are relative to \`/api/v1\`. Level ${defaultLevel} for machines: [openapi.json](openapi.json); \`natter api --openapi --level N\` prints that of any level.`,
    conventions,
    ...endpointsOf(resources),
  )
}

export function controlPage(resources: readonly CatalogueResource[], api: readonly CatalogueResource[]): string {
  return page(
    'Control plane reference',
    'What a test can ask of a daemon beside the API. All paths are relative to `/control/v1`. The same, for machines: [openapi-control.json](openapi-control.json).',
    controlConventions,
    ...endpointsOf(resources, api),
    `## Kinds of fault\n\n${table(
      ['Kind', 'What it does'],
      Object.entries(faultKinds).map(([kind, about]) => [code(kind), about]),
    )}`,
  )
}

/** `others` are endpoints of another page that samples name. */
function endpointsOf(resources: readonly CatalogueResource[], others: readonly CatalogueResource[] = []): string[] {
  const all = [...resources, ...others].flatMap(({ endpoints }) => endpoints)
  return [
    contents(resources),
    ...resources.flatMap(({ name, about, endpoints }) => [
      `## ${name}`,
      `${sentence(about)}`,
      ...endpoints.flatMap(endpoint => endpointParts(endpoint, all)),
    ]),
  ]
}

const controlConventions = `## How to call

- The control plane is open when the daemon was started with \`--memory\` or \`--control\`, and closed (status 404) otherwise.
- Send \`Authorization: Bearer TOKEN\`. The token is \`control_token\` in the ready file, and \`NATTER_CONTROL_TOKEN\` under
  \`natter exec\`.
- GET and DELETE take parameters in the query string; POST takes a JSON object as the body.
- Every reply is a JSON object with \`result\` (\`success\` or \`error\`) and \`msg\`. Errors also have \`code\`.
- A parameter that the endpoint does not know is refused: ignored, it would make a test pass that should fail.
- Times are UNIX milliseconds by the daemon's clock.
- The curl lines work on a fresh \`natter daemon start --memory --preset dev\`, unless the text below them says what they need. \`eval "$(natter env)"\` sets
  the variables that they read.`

const conventions = `## How to call

- Log in by HTTP Basic: your email address and your API key.
- Send parameters in the query string or as form fields, urlencoded or multipart, with any method.
  A field of the body wins over one of the same name in the query string.
- Text travels as it is. Everything else travels as JSON: \`true\`, \`[8,9]\`, \`{"a":1}\`.
- Every reply is a JSON object with \`result\` (\`success\` or \`error\`) and \`msg\`.
  Errors also have \`code\`; [errors.md](errors.md) lists them all.
- A text has at most ${defaultBounds.text.toLocaleString('en')} characters, a list as many items, an object ${defaultBounds.entries.toLocaleString('en')} entries, unless its type
  says otherwise (*max.*). Larger values are refused with \`BAD_REQUEST\`; message content and topics are cut instead, at 10,000 and 60
  characters, and end in \`[message truncated]\` and \`...\`.
- Parameters that the endpoint does not know change nothing. Their names come back in \`ignored_parameters_unsupported\`.
- The curl lines work on a fresh \`natter daemon start --memory --preset dev\`, unless the text below them says what they need.
  They show the required parameters, and read \`NATTER_SITE\`, \`NATTER_EMAIL\` and \`NATTER_API_KEY\`, which \`eval "$(natter env)"\` sets.`

function contents(resources: readonly CatalogueResource[]): string {
  const rows = resources.flatMap(({ name, endpoints }) =>
    endpoints.map(endpoint => [name, `[${heading(endpoint)}](#${anchor(heading(endpoint))})`, endpoint.summary]),
  )
  return table(['Resource', 'Endpoint', 'What it does'], rows)
}

function endpointParts(endpoint: Endpoint, all: readonly Endpoint[]): string[] {
  const {
    id,
    access,
    callers,
    since,
    summary,
    params,
    reply,
    served,
    also = [],
    deprecated,
    notOnPublicServers,
  } = endpoint
  return [
    `### ${heading(endpoint)}`,
    `${sentence(summary)}`,
    [
      `- Operation: ${code(id)}`,
      `- Access: ${callers ? callersText[callers] : accessText[access]}`,
      ...(access === 'control'
        ? []
        : [`- Since level: ${since}${since > defaultLevel ? ', newer than the default' : ''}`]),
      ...(also.length > 0
        ? [`- Also at ${also.map(code).join(' and ')}${access === 'control' ? '' : ', its older paths'}.`]
        : []),
      ...(deprecated === undefined ? [] : [`- Deprecated: ${deprecated}.`]),
      ...(notOnPublicServers ? ['- An addition of Natter: Zulip servers do not have it.'] : []),
      ...(served === 'outgoing' ? ['- Sent by natterd to your server; natterd itself does not answer it.'] : []),
    ].join('\n'),
    table(['Parameter', 'Type', 'Presence', 'About'], Object.entries(params).map(paramRow)) || 'No parameters.',
    replyTable(reply) || 'The reply has no fields of its own.',
    id === events.register.id ? sections() : '',
    refusals(endpoint),
    ...calls(endpoint, all),
  ]
}

function heading({ method, path }: Endpoint): string {
  return `${method} ${path}`
}

function paramRow([name, param]: [string, Param]): string[] {
  const older = param.alias === undefined ? '' : ` (older spelling: ${code(param.alias)})`
  const publicly = param.requiredByPublicServers ? '; Zulip clients must send it' : ''
  const words = Object.entries(param.deprecatedWords ?? {}).map(([word, use]) => `${code(word)}: use ${use}`)
  const deprecated = [...(param.deprecated === undefined ? [] : [param.deprecated]), ...words]
  const replaced = deprecated.length === 0 ? '' : ` (deprecated: ${deprecated.join('; ')})`
  return [
    code(name),
    shapeText(param.shape),
    presence(param),
    withSpan(param.about, param) + older + replaced + publicly,
  ]
}

const accessText: Readonly<Record<Endpoint['access'], string>> = {
  user: 'needs an account',
  anyone: 'anyone, without an account',
  control: 'needs the control token',
  key: 'an account, by its API key in the address',
}

const callersText: Readonly<Record<NonNullable<Endpoint['callers']>, string>> = {
  administrators: 'organization administrators',
  owners: 'organization owners',
  members: 'accounts of people other than guests',
  'human members': 'accounts of people other than guests',
  humans: 'accounts of people',
  'not guests': 'accounts other than those of guests',
}

export function presence({ presence, fallback }: Param): string {
  if (presence === 'defaulted') return `default ${code(JSON.stringify(fallback))}`
  return presence === 'path' ? 'in the path' : presence
}

function replyTable(reply: Endpoint['reply']): string {
  const { required = [] } = Type.Object({ ...reply })
  const rows = fieldsOf(reply, required).map(({ path, shape, optional }) => [
    code(path),
    shapeText(shape),
    spanText(shape as Marked) ?? (optional ? 'sometimes' : 'always'),
  ])
  return table(['Reply field', 'Type', 'There'], rows)
}

/** What `register` returns besides: the state, by the event types that ask for it. */
function sections(): string {
  const names = served.flatMap(resource => Object.keys(resource.sections ?? {}))
  return `And the state of whatever is asked for: ${names.sort().map(code).join(', ')}.`
}

function refusals({ refusals }: Endpoint): string {
  const own = refusals.map(name => `[${name}](errors.md#codes)`).join(', ')
  return own === ''
    ? 'Refuses only as [any call can](errors.md#any-call).'
    : `Refuses with ${own}, and as [any call can](errors.md#any-call).`
}

function calls(endpoint: Endpoint, all: readonly Endpoint[]): string[] {
  const { needs } = sampleOf(endpoint)
  const lines = endpoint.served === 'outgoing' ? [] : curlLines(endpoint, all)
  const note = needs === undefined || lines.length === 0 ? [] : [`The curl line needs ${needs}.`]
  return [codeBlock('sh', [...endpoint.cli.examples, ...lines].join('\n')), ...note]
}

function sentence(text: string): string {
  const upper = text.charAt(0).toUpperCase() + text.slice(1)
  return /[.!?]$/.test(upper) ? upper : `${upper}.`
}
