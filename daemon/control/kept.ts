// The entry of a call in the log of calls: bounded, so that no caller fills the memory, and with secrets hidden.

import type { Upload } from '../api/define.ts'
import { hidden, isSecretName, maskJson, maskTokens } from '../api/masking.ts'
import { jsonOr } from '../local/json.ts'
import { cutText } from '../local/text-parts.ts'

/** Characters of an answer. */
export const keptOfAnswer = 4000
/** Characters of a User-Agent. */
export const longestAgent = 300

/** Characters of the parameters as they were sent, names included. */
const keptOfSent = 8000
/** Parameters with more characters are kept like texts, cut. */
const keptOfParams = 64_000
/** Characters of a call. */
export const keptOfCall = keptOfSent + keptOfParams

type Values = Readonly<Record<string, unknown>>

/** Texts as they came, files by name and size. */
export function presentSent(fields: Iterable<readonly [string, string | Upload]>): Record<string, unknown> {
  const sent: [string, unknown][] = []
  let room = keptOfSent
  // A request has at most a thousand fields.
  for (const [name, value] of fields) {
    if (room <= 0) {
      sent.push(['…', 'more parameters were sent'])
      break
    }
    const text = typeof value === 'string' ? cutText(maskTokens(value), room) : withoutBytes(value)
    sent.push([cutText(name, room), isSecretName(name) ? hidden : text])
    room -= name.length + (typeof text === 'string' ? text.length : 0)
  }
  return Object.fromEntries(sent)
}

/** The parameters as the endpoint sees them. */
export function mask(params: Values): Record<string, unknown> {
  let room = keptOfParams
  return Object.fromEntries(
    Object.entries(params).map(([name, value]) => {
      if (isSecretName(name)) return [name, hidden]
      const kept = typeof value === 'string' ? maskTokens(value) : withoutBytes(value)
      if (typeof kept !== 'string' && (typeof kept !== 'object' || kept === null)) return [name, kept]
      const text = typeof kept === 'string' ? kept : JSON.stringify(kept)
      room -= text.length
      return [name, room >= 0 ? kept : cutText(text, Math.max(0, room + text.length))]
    }),
  )
}

export function maskAnswer(body: string): string {
  return cutText(maskJson(body.length > keptOfAnswer ? body.slice(0, keptOfAnswer + 100) : body), keptOfAnswer)
}

/** One parameter as it was sent: a secret hidden, a file by name and size. */
export function maskField(name: string, value: string | Upload): unknown {
  if (isSecretName(name)) return hidden
  return typeof value === 'string' ? maskTokens(value) : withoutBytes(value)
}

export function codeIn(body: string): string | null {
  return jsonOr(body)?.code ?? null
}

function withoutBytes(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('bytes' in value)) return value
  const { bytes, received, ...rest } = value as Upload
  return { ...rest, size: received?.size ?? bytes.length }
}
