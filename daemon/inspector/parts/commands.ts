// Commands for a shell, as people would type them.

import { shellWord } from '../../local/shell-word.ts'
import { site } from '../session.ts'

type Params = Readonly<Record<string, unknown>>

/** `path` is below /api/v1 or has it. The key is a variable of the shell: what is copied can be shown to others. */
export function writeCurl(method: string, path: string, user: string | null, params: Params): string {
  const account = user ? [`-u ${shellWord(`${user}:`)}"$NATTER_API_KEY"`] : []
  const shape = method === 'GET' ? ['-G'] : [`-X ${method}`]
  const entries = Object.entries(params)
  const fields = entries.some(([, value]) => isFile(value))
    ? entries.map(
        ([name, value]) => `-F ${shellWord(`${name}=${isFile(value) ? `@${value.filename}` : writeText(value)}`)}`,
      )
    : entries.map(([name, value]) => `--data-urlencode ${shellWord(`${name}=${writeText(value)}`)}`)
  return ['curl -sS', ...account, ...shape, shellWord(`${site}${apiPath(path)}`), ...fields].join(' ')
}

export function writeNatter(method: string, path: string, user: string | null, params: Params): string {
  const fields = Object.entries(params).map(([name, value]) =>
    typeof value === 'string'
      ? `-f ${shellWord(`${name}=${value}`)}`
      : `-F ${shellWord(`${name}=${JSON.stringify(value)}`)}`,
  )
  const account = user ? ['--user', shellWord(user)] : []
  return [
    'natter api',
    method,
    shellWord(path.replace(/^.*\/api\/v1/, '')),
    ...fields,
    '--site',
    shellWord(site),
    ...account,
  ].join(' ')
}

/** A wait, or a tail, that would see this event. */
export function writeFollow(verb: 'wait' | 'tail', event: Readonly<Record<string, any>>, user: string | null): string {
  const { type, message } = event
  const parts = [`natter ${verb}`]
  if (type === 'message') {
    if (message?.type === 'stream' || message?.type === 'channel')
      parts.push(
        '--channel',
        shellWord(String(message.display_recipient)),
        '--topic',
        shellWord(String(message.subject)),
      )
    else parts.push('--dm')
    if (message?.sender_email) parts.push('--sender', shellWord(message.sender_email))
  } else parts.push('--type', shellWord(String(type)))
  if (verb === 'wait') parts.push('--within 30s')
  parts.push('--site', shellWord(site))
  if (user) parts.push('--user', shellWord(user))
  return parts.join(' ')
}

/** A file, of which the daemon keeps only what it was. */
export function isFile(value: unknown): value is { readonly filename: string } {
  return typeof value === 'object' && value !== null && 'filename' in value
}

export function writeText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

export function apiPath(path: string): string {
  return path.includes('/api/v1') ? path.slice(path.indexOf('/api/v1')) : `/api/v1${path}`
}
