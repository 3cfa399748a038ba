// Turns the payload that another service posts to an incoming webhook into a message: formatted for the integrations that natter knows, and
// as it is for all others, so that the author of a notifier sees what it sends.

import type { webhooks as api } from '../../../api/bots/webhooks.ts'
import type { ParamsOf } from '../../../api/define.ts'
import { compilePattern } from '../../../api/pattern.ts'
import { limits } from '../../limits.ts'
import { sendMessage } from '../../messages/messages/send-command.ts'
import { invalid, malformed, needed, Refusal } from '../../refusal.ts'
import type { Context, Outcome } from '../../resource.ts'
import { shownName } from './integrations.ts'
import { findMistake, indentJson } from './json-text.ts'
import { readSlackMessage } from './slack.ts'

type Params = ParamsOf<typeof api.post>
type Received = Outcome<{ ok?: boolean }>

export function receivePayload(caller: Context, params: Params): Received {
  const { integration } = params
  const ctx = { ...caller, client: clientFor(integration) }
  if (integration === 'slack_incoming') return receiveForSlack(ctx, params)
  if (integration === 'json') return post(ctx, params, 'JSON', formatJson(params))
  // Before the filter: a payload that cannot be read is a mistake, whatever its event is.
  const content = showPayload(params)
  return isWanted(params) ? post(ctx, params, integration, content) : { reply: {} }
}

/** Public servers name the program that sends a message after the integration. */
function clientFor(integration: string): string {
  const words =
    integration === 'json' ? ['JSON'] : integration.split('_').map(word => shownName(word).replaceAll(' ', ''))
  return `Zulip${words.join('')}Webhook`.slice(0, limits.clientName)
}

// --- integrations -------------------------------------------------------------------------------------------------

/** Programs that are made for Slack read its answers: `ok`, and what is wrong in `error`. */
function receiveForSlack(ctx: Context, params: Params): Received {
  try {
    if (params.payload === undefined)
      throw needed('payload', 'as the body, declared as application/json, or in a field of a form')
    const { topic, content } = readSlackMessage(parsePayload(params.payload, 'INVALID_JSON'))
    const { facts = [] } = content === '' ? {} : post(ctx, params, params.topic ?? topic, content)
    return { facts, reply: { ok: true } }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    const { message, code, kind, status, parameter } = error
    const body = { ok: false, error: message }
    throw new Refusal(message, { code, kind, status, body, ...(parameter !== undefined && { parameter }) })
  }
}

function formatJson({ payload = '' }: Params): string {
  parsePayload(payload, 'BAD_REQUEST')
  if (!/^\s*\{/.test(payload)) throw invalid('payload', 'must be a JSON object')
  // A little more than fits: then the message is cut as any other is.
  const { text } = indentJson(payload, 2 * limits.messageContent, true)
  return `\`\`\`json\n${text}\n\`\`\``
}

/** Characters of a payload that are shown; the rest of the message has room beside them. */
const mostShown = 9000

function showPayload({ integration, event, payload = '' }: Params): string {
  const heading = `**${shownName(integration)}**${event === undefined ? '' : ` \`${event.replaceAll('`', "'")}\``}`
  if (payload.trim() === '') return `${heading}\n\n(no payload)`
  const isJson = /^\s*[{["]/.test(payload)
  if (isJson) parsePayload(payload, 'INVALID_JSON')
  const { text, cut } = isJson ? indentJson(payload, mostShown) : cutText(payload)
  const fence = '`'.repeat(Math.max(3, ...[...text.matchAll(/`+/g)].map(([run]) => run.length + 1)))
  const note = cut
    ? `\n\n[The payload has ${payload.length} characters and was cut. The log of calls has more of it.]`
    : ''
  return `${heading}\n\n${fence}${isJson ? 'json' : 'text'}\n${text}\n${fence}${note}`
}

function cutText(payload: string): { text: string; cut: boolean } {
  const text = payload.trimEnd()
  return text.length <= mostShown ? { text, cut: false } : { text: text.slice(0, mostShown).toWellFormed(), cut: true }
}

function parsePayload(payload: string, code: 'INVALID_JSON' | 'BAD_REQUEST'): unknown {
  try {
    return JSON.parse(payload)
  } catch {
    const { line, column } = findMistake(payload)
    throw malformed(`Malformed JSON: the payload is not valid JSON at line ${line}, column ${column}.`, { code })
  }
}

// --- events -------------------------------------------------------------------------------------------------------

/** By the name of the event. A payload without one is always wanted. */
function isWanted({ event, only_events, exclude_events }: Params): boolean {
  const matches = (patterns: readonly string[], parameter: string) =>
    patterns
      .map((pattern, index) => compileGlob(pattern, `${parameter}[${index}]`))
      .some(glob => event !== undefined && glob.test(event))
  const included = only_events === undefined || matches(only_events, 'only_events')
  const excluded = exclude_events !== undefined && matches(exclude_events, 'exclude_events')
  return event === undefined || (included && !excluded)
}

/** The pattern of a shell: `*`, `?`, `[abc]` and `[!abc]`. */
function compileGlob(glob: string, parameter: string) {
  const source = glob.replace(/\[(!?)([^\]]+)\]|[\s\S]/g, (char, not: string, set?: string) => {
    if (set !== undefined) return `[${not && '^'}${set.replace(/[\\^[]/g, '\\$&')}]`
    return char === '*' ? '.*' : char === '?' ? '.' : char.replace(/[\\^$.|+()[\]{}]/, '\\$&')
  })
  const pattern = compilePattern(`^(?:${source})$`, 's')
  if ('problem' in pattern) throw invalid(parameter, `must be a pattern such as pull_*: ${pattern.problem}`)
  return pattern
}

// --- messages -----------------------------------------------------------------------------------------------------

/**
 * To the channel of the address, or to the owner of the bot. OPEN: public servers take the key of any account here, of people too; so
 * does natter, but an account without an owner needs a channel, where public servers fail.
 */
function post(ctx: Context, { stream, topic: given }: Params, topic: string, content: string): Received {
  if (stream === undefined) {
    const ownerId = ctx.actor.bot?.ownerId ?? null
    if (ownerId === null) throw needed('stream', 'because your account is not a bot, and has no owner to write to')
    return { facts: sendMessage(ctx, { type: 'direct', to: [ownerId], content }).facts ?? [], reply: {} }
  }
  // A longer number is rounded, so it is a name.
  const to = /^\d{1,15}$/.test(stream) ? Number(stream) : stream
  try {
    // For a channel that does not exist, the owner of the bot gets a notice, and the sender no error.
    return { facts: sendMessage(ctx, { type: 'channel', to, topic: given ?? topic, content }).facts ?? [], reply: {} }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    if (error.code === 'STREAM_DOES_NOT_EXIST') return { reply: {} }
    if (error.parameter !== 'to') throw error
    const { message, code, kind, status, fields } = error
    throw new Refusal(message.replace(/^to:/, 'stream:'), { code, kind, status, fields, parameter: 'stream' })
  }
}
