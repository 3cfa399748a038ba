// Findings of `--strict` in calls: parameters and values that public servers of the API family refuse, ignore or have deprecated.

import { harmless } from './harmless.ts'

/** One thing about one call. */
export interface Finding {
  readonly kind: 'refused' | 'deprecated' | 'ignored'
  /** As it was sent; null if it is about the endpoint. */
  readonly parameter: string | null
  readonly says: string
}

/** The same finding about all calls of one client. */
export interface ClientFinding extends Finding {
  /** The header User-Agent; null if there was none. */
  readonly client: string | null
  readonly user: string | null
  /** Operation ID. */
  readonly endpoint: string
  readonly calls: number
  readonly first_call: number
  readonly last_call: number
  /** That of the first call, if the list includes spaces and it was made in one. */
  readonly space: string | null
}

/** For the end of a run: one block per client. The list is in the order of clients. */
export function findingsText(findings: readonly ClientFinding[], leftOut = 0): string {
  const count = findings.length === 1 ? '1 finding' : `${findings.length} findings`
  const lines = [`strict: ${count}. A public server refuses, ignores or has deprecated what these calls sent.`]
  let block: string | undefined
  for (const { client, user, endpoint, kind, says, calls, first_call, space } of findings) {
    const title = `${client ?? 'a client without User-Agent'}${user === null ? '' : ` as ${user}`}`
    if (title !== block) lines.push(`  ${title}`)
    block = title
    const first = space === null ? first_call : `${first_call} in space ${space}`
    const where = calls === 1 ? `call ${first}` : `${calls} calls, the first is ${first}`
    lines.push(`    ${kind.padEnd(10)}  ${endpoint}  ${says} (${where})`)
  }
  if (leftOut > 0) lines.push(`  and ${leftOut} more that were not kept`)
  return lines.map(line => harmless(line).replaceAll('\n', '\\n')).join('\n')
}
