// Answers to requests that had an idempotency key, kept so that the same request can be answered again without being done again.

import { idempotencyLimits } from '../../api/idempotency.ts'
import type { Answer } from './rows/people.ts'

/** Characters of a digest. */
const digestLength = 32

/** The newest answers of one account, oldest first. */
interface Kept {
  readonly answers: Map<string, Answer>
  bytes: number
}

export class AnswerTable {
  readonly #accounts = new Map<number, Kept>()

  find(userId: number, key: string): Answer | undefined {
    return this.#accounts.get(userId)?.answers.get(key)
  }

  add(given: Answer): void {
    // Earlier versions kept digests without a key, which could be used to check guesses at what was sent.
    const answer = given.request.length === digestLength ? given : { ...given, request: '' }
    const kept = this.#accounts.get(answer.userId) ?? { answers: new Map<string, Answer>(), bytes: 0 }
    this.#accounts.set(answer.userId, kept)
    const before = kept.answers.get(answer.key)
    kept.answers.set(answer.key, answer)
    kept.bytes += sizeOf(answer) - (before ? sizeOf(before) : 0)
    for (const [key, old] of kept.answers) {
      if (kept.answers.size <= idempotencyLimits.answers && kept.bytes <= idempotencyLimits.bytes) break
      kept.answers.delete(key)
      kept.bytes -= sizeOf(old)
    }
  }

  save(): Answer[] {
    return [...this.#accounts.values()].flatMap(({ answers }) => [...answers.values()])
  }

  load(rows: Iterable<unknown>): void {
    for (const row of rows) this.add(row as Answer)
  }
}

function sizeOf({ key, reply }: Answer): number {
  return key.length + reply.length
}
