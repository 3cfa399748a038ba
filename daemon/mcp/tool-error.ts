// The error of a tool: what is wrong, and what to do.

import { NatterError } from '../client/sender.ts'
import { limitCode } from '../local/profiles.ts'

/** A call that cannot be carried out as it was made; the text says what to do. */
export class ToolError extends Error {
  constructor(text: string) {
    super(`${text[0]?.toUpperCase()}${text.slice(1)}${/[.?!]$/.test(text) ? '' : '.'}`)
  }
}

/** A refusal of the server as a sentence for the model that called the tool. */
export function explain(error: unknown): string {
  if (error instanceof ToolError) return error.message
  // A failed fetch has a cause. Without one, what the server sent lacks something that every server of the API sends.
  if (error instanceof TypeError && error.cause === undefined)
    return 'The chat server answered in a form that the API does not have. Check its address.'
  if (!(error instanceof NatterError)) return `The call failed: ${(error as Error).message}`
  const { status, code, message, parameter } = error
  // A limit of the profile, not a refusal of the server.
  if (code === limitCode) return message
  if (status === 0) return `The chat server cannot be reached: ${message}. Try again later, or check its address.`
  const named = parameter === undefined ? '' : ` (parameter ${parameter})`
  const advice = adviceFor(status, code)
  return `The chat server refused the call${named}: ${message}${/[.!?]$/.test(message) ? '' : '.'}${advice}`
}

function adviceFor(status: number, code: string): string {
  if (code === 'RATE_LIMIT_HIT') return ' Wait a little, then try again.'
  if (status === 401) return ' The account or its API key is wrong; this cannot be solved by another call.'
  if (status >= 500) return ' Try again later.'
  return ''
}
