// Answers to requests that had an idempotency key, kept so that the same request can be answered again without being done again.

import { idempotencyLimits } from '../../api/idempotency.ts'

export interface Answer {
  readonly userId: number
  /** Chosen by the caller. */
  readonly key: string
  /** What was asked for: a digest. */
  readonly request: string
  /** The reply, as JSON. */
  readonly reply: string
}

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

  add(answer: Answer): void {
    const kept = this.#accounts.get(answer.userId) ?? { answers: new Map<string, Answer>(), bytes: 0 }
    this.#accounts.set(answer.userId, kept)
    kept.answers.set(answer.key, answer)
    kept.bytes += sizeOf(answer)
    for (const [key, old] of kept.answers) {
      if (kept.answers.size <= idempotencyLimits.answers && kept.bytes <= idempotencyLimits.bytes) break
      kept.answers.delete(key)
      kept.bytes -= sizeOf(old)
    }
  }

  *save(): Generator<Answer> {
    for (const { answers } of this.#accounts.values()) yield* answers.values()
  }

  load(rows: Iterable<unknown>): void {
    for (const row of rows) this.add(row as Answer)
  }
}

function sizeOf({ key, reply }: Answer): number {
  return key.length + reply.length
}
