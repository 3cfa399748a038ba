// errors.md: every error code, and which endpoints send it; the kinds of refusals.

import {
  type CodeEntry,
  commonCodes,
  type ErrorCode,
  errorCodes,
  kindHeader,
  parameterHeader,
  refusalKinds,
} from '../../daemon/api/errors.ts'
import { anchor, code, codeBlock, page, table } from './markdown.ts'
import type { CatalogueResource } from './sources.ts'

export function errorsPage(resources: readonly CatalogueResource[]): string {
  const kinds = Object.entries(errorCodes as Record<string, CodeEntry>)
  const row = ([name, { status, kind, meaning, fields = [] }]: [string, CodeEntry]) => [
    code(name),
    String(status),
    code(kind),
    meaning,
    fields.map(code).join(', '),
  ]
  return page(
    'Errors',
    'An error is a JSON object with `result`, `msg` and `code`, and the extra fields of its code. Programs look at `code`, people read `msg`.',
    codeBlock('json', example),
    '## Kinds',
    `Every refusal has a kind, whatever its code, in the response header \`${kindHeader}\`; the command line maps kinds to exit codes. Where one parameter is wrong, \`${parameterHeader}\` names it. Other servers of the API family send neither header.`,
    table(
      ['Kind', 'Meaning'],
      Object.entries(refusalKinds).map(([kind, meaning]) => [code(kind), meaning]),
    ),
    '## Codes',
    table(
      ['Code', 'Status', 'Usual kind', 'Meaning', 'Extra fields', 'Sent by'],
      kinds.filter(([, kind]) => !kind.outside).map(kind => [...row(kind), usersOf(kind[0] as ErrorCode, resources)]),
    ),
    '`BAD_REQUEST` also comes with status 404 (no such path, or no such record of yours), 405 (with an `Allow` header) and 413 (body too large).',
    '## Any call',
    `Any call can be refused with ${commonCodes.map(code).join(', ')}.`,
    '## Known, never sent',
    'Codes of the same API family for services that natter does not have.',
    table(
      ['Code', 'Status', 'Usual kind', 'Meaning', 'Extra fields'],
      kinds.filter(([, kind]) => kind.outside).map(row),
    ),
  )
}

const example = JSON.stringify({
  result: 'error',
  msg: 'title: required',
  code: 'REQUEST_VARIABLE_MISSING',
  var_name: 'title',
} satisfies { code: ErrorCode; [field: string]: string })

function usersOf(name: ErrorCode, resources: readonly CatalogueResource[]): string {
  if (commonCodes.includes(name)) return 'any call'
  const users = resources.flatMap(({ endpoints }) => endpoints.filter(({ refusals }) => refusals.includes(name)))
  if (users.length === 0) return 'no endpoint yet'
  return users.map(({ method, path }) => `[${method} ${path}](api.md#${anchor(`${method} ${path}`)})`).join(', ')
}
