// The request as text, for --dry-run and --curl. The key is hidden unless --show-key is given.

import type { Globals } from '../base/globals.ts'
import type { Account } from '../base/profile.ts'
import { inQuery, type Request, targetOf } from '../transport/client.ts'
import { printJson } from './output.ts'

export function printRequest(account: Account, request: Request, globals: Globals): void {
  if (globals.curl) process.stdout.write(`${curlLine(account, request, globals.showKey)}\n`)
  else if (globals.json) printJson(asRecord(account, request, globals.showKey))
  else process.stdout.write(`${asText(account, request, globals.showKey)}\n`)
}

/** The line works when pasted even with a hidden key, which the shell then reads from NATTER_API_KEY. */
export function curlLine(account: Account, request: Request, showKey: boolean): string {
  const words = ['curl', '-sS']
  if (inQuery(request)) {
    if (request.fields.size > 0) words.push('-G')
  } else words.push('-X', request.method)
  if (account.email && account.apiKey)
    words.push(
      '-u',
      showKey ? shell(`${account.email}:${account.apiKey}`) : `${shell(`${account.email}:`)}"$NATTER_API_KEY"`,
    )
  words.push(account.site ? shell(`${account.site}${request.path}`) : `"$NATTER_SITE"${shell(request.path)}`)
  for (const [name, value] of request.fields)
    if (typeof value === 'string') words.push('--data-urlencode', shell(`${name}=${value}`))
    else words.push('-F', shell(`${name}=@${value.filename}`))
  return words.join(' ')
}

function asText(account: Account, request: Request, showKey: boolean): string {
  const lines = [`${request.method} ${urlOf(account, request)}`]
  if (account.email) lines.push(`Authorization: Basic ${account.email}:${keyOf(account, showKey)}`)
  for (const [name, value] of request.fields)
    lines.push(`${name}=${typeof value === 'string' ? value : `@${value.filename}`}`)
  return lines.join('\n')
}

function asRecord(account: Account, request: Request, showKey: boolean) {
  const fields = [...request.fields].map(([name, value]) => [
    name,
    typeof value === 'string' ? value : `@${value.filename}`,
  ])
  return {
    method: request.method,
    url: urlOf(account, request),
    user: account.email ?? null,
    api_key: account.apiKey ? keyOf(account, showKey) : null,
    fields: Object.fromEntries(fields),
  }
}

function urlOf(account: Account, request: Request): string {
  return `${account.site ?? '$NATTER_SITE'}${targetOf(request)}`
}

function keyOf(account: Account, showKey: boolean): string {
  return showKey ? (account.apiKey ?? '') : '********'
}

function shell(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}
