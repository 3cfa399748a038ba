// The request as text, for --dry-run and --curl. The key is hidden unless --show-key is given.

import type { Upload } from '../../daemon/api/define.ts'
import { keyHeader } from '../../daemon/api/idempotency.ts'
import { shellWord } from '../../daemon/local/shell-word.ts'
import type { Globals } from '../base/globals.ts'
import type { Account } from '../base/profile.ts'
import { print } from '../base/writer.ts'
import { addressFor, buildTarget, inQuery, type Request, requireSite } from '../transport/client.ts'
import { printFormatted } from './output.ts'

export async function printRequest(account: Account, request: Request, globals: Globals): Promise<void> {
  // A line to copy must not send a key elsewhere.
  if (account.site) addressFor(requireSite(account), buildTarget(request))
  if (globals.curl) print(`${curlLine(account, request, globals.showKey)}\n`)
  // --jq and --fields are about the reply.
  else if (globals.json || globals.ndjson) {
    const { json, ndjson, color } = globals
    await printFormatted(asRecord(account, request, globals.showKey), { json, ndjson, color })
  } else print(`${asText(account, request, globals.showKey)}\n`)
}

/** The line works when pasted even with a hidden key, which the shell then reads from its environment. */
export function curlLine(account: Account, request: Request, showKey: boolean): string {
  const words = ['curl', '-sS']
  if (inQuery(request)) {
    if (request.fields.size > 0) words.push('-G')
  } else words.push('-X', request.method)
  words.push(...curlCredentials(account, request, showKey))
  if (request.idempotencyKey) words.push('-H', shellWord(`${keyHeader}: ${request.idempotencyKey}`))
  words.push(
    account.site ? shellWord(`${requireSite(account)}${request.path}`) : `"$NATTER_SITE"${shellWord(request.path)}`,
  )
  for (const [name, value] of request.fields)
    if (typeof value === 'string') words.push('--data-urlencode', shellWord(`${name}=${value}`))
    else words.push('-F', shellWord(`${name}=@${value.filename}`))
  if (request.body)
    words.push('-H', shellWord(`Content-Type: ${request.body.type}`), '--data-binary', shellWord(bodyText(request)))
  return words.join(' ')
}

function curlCredentials({ email, apiKey }: Account, { authorization }: Request, showKey: boolean): string[] {
  if (authorization) {
    const header = showKey
      ? shellWord(`Authorization: ${authorization}`)
      : '"Authorization: Bearer $NATTER_CONTROL_TOKEN"'
    return ['-H', header]
  }
  if (!email || !apiKey) return []
  return ['-u', showKey ? shellWord(`${email}:${apiKey}`) : `${shellWord(`${email}:`)}"$NATTER_API_KEY"`]
}

function asText(account: Account, request: Request, showKey: boolean): string {
  const lines = [`${request.method} ${buildUrl(account, request)}`]
  if (request.authorization) lines.push(`Authorization: Bearer ${showKey ? readToken(request) : hidden}`)
  else if (account.email) lines.push(`Authorization: Basic ${account.email}:${keyOf(account, showKey)}`)
  if (request.idempotencyKey) lines.push(`${keyHeader}: ${request.idempotencyKey}`)
  for (const [name, value] of request.fields) lines.push(`${name}=${fieldText(value)}`)
  if (request.body) lines.push(bodyText(request))
  return lines.join('\n')
}

function asRecord(account: Account, request: Request, showKey: boolean) {
  const fields = [...request.fields].map(([name, value]) => [name, fieldText(value)])
  const caller = request.authorization
    ? { control_token: showKey ? readToken(request) : hidden }
    : { user: account.email ?? null, api_key: account.apiKey ? keyOf(account, showKey) : null }
  return {
    method: request.method,
    url: buildUrl(account, request),
    ...caller,
    ...(request.idempotencyKey && { idempotency_key: request.idempotencyKey }),
    fields: Object.fromEntries(fields),
    ...(request.body && { body: bodyText(request) }),
  }
}

function fieldText(value: string | Upload): string {
  return typeof value === 'string' ? value : `@${value.filename}`
}

function bodyText({ body }: Request): string {
  return Buffer.from(body?.bytes ?? []).toString('utf8')
}

function readToken({ authorization = '' }: Request): string {
  return authorization.replace(/^Bearer /, '')
}

const hidden = '********'

function buildUrl(account: Account, request: Request): string {
  return `${account.site ? requireSite(account) : '$NATTER_SITE'}${buildTarget(request)}`
}

function keyOf(account: Account, showKey: boolean): string {
  return showKey ? (account.apiKey ?? '') : hidden
}
