// `--batch --resume FILE`: how far a batch has come, in a file, and the keys that make it safe to repeat the lines that were
// under way when it ended.

import { createHash, randomUUID } from 'node:crypto'
import { abandonedMs, removeUnfinished, writeFileAtomicallySync } from '../../daemon/local/atomic-file.ts'
import { jsonOr } from '../../daemon/local/json.ts'
import { monotonicMs } from '../../daemon/local/monotonic.ts'
import { exitCodes, Failure } from '../base/failure.ts'
import { readIfThere } from '../base/files.ts'

interface Saved {
  /** Different for each batch; part of the keys. */
  readonly run: string
  /** The number of lines from the start that are done. */
  readonly done: number
  /** Digest of what the batch is about, and of these lines. */
  readonly digest: string
}

/** Milliseconds between two writes. What happened since then is repeated with the same keys, so nothing is done twice. */
const interval = 200

/**
 * Lines under way, and lines between two writes, at most: nothing is done twice as long as the daemon remembers the keys of both.
 * It remembers 1,000 keys of an account, which can have other clients.
 */
export const mostRepeated = 200

export class Resume {
  readonly #file: string
  readonly #saved: Saved
  readonly #hash = createHash('sha256')
  /** Digests of lines that are not done yet, by number. */
  readonly #ahead = new Map<number, string>()
  #done: number
  #digest: string
  #written = { at: 0, done: 0 }
  #checked: boolean
  /** Why the file could not be written. No more lines should be sent then: a later run would repeat too many. */
  failure: Failure | undefined

  /** `about`: what makes the same lines another batch, such as another account. */
  constructor(file: string, about: readonly unknown[]) {
    this.#file = file
    this.#hash.update(`${JSON.stringify(about)}\n`)
    this.#saved = readSaved(file) ?? { run: randomUUID(), done: 0, digest: '' }
    this.#done = this.#saved.done
    this.#digest = this.#saved.digest
    this.#checked = this.#done === 0
    removeUnfinished(file, abandonedMs)
    // Before the first call: a key that is not in the file could not be used again.
    this.write()
    if (this.failure) throw this.failure
  }

  /** The number of lines that earlier runs have done. */
  get done(): number {
    return this.#saved.done
  }

  keyOf(line: number): string {
    return `${this.#saved.run}-${line}`
  }

  /** Call with each line, in order. Returns false if an earlier run has done it. */
  read(line: number, text: string): boolean {
    const isNew = line > this.#saved.done
    if (isNew) this.check()
    this.#hash.update(`${text}\n`)
    if (isNew) this.#ahead.set(line, this.#hash.copy().digest('hex'))
    return isNew
  }

  /** Refuses another batch. Call at the end of the input: it may have fewer lines than an earlier run has done. */
  check(): void {
    if (this.#checked) return
    this.#checked = true
    if (this.#hash.copy().digest('hex') === this.#saved.digest) return
    const other = 'its first lines, flags, account or server are not the same'
    throw new Failure(exitCodes.refused, `${this.#file} is about another batch: ${other}`, {
      hint: `Use another file, or remove ${this.#file} to start over.`,
    })
  }

  /** Call when a line and all lines before it are done. */
  finish(line: number): void {
    for (const number of this.#ahead.keys()) {
      if (number > line) break
      this.#done = number
      this.#digest = this.#ahead.get(number)!
      this.#ahead.delete(number)
    }
    const { at, done } = this.#written
    if (this.#done - done >= mostRepeated || monotonicMs() - at >= interval) this.write()
  }

  write(): void {
    const saved: Saved = { run: this.#saved.run, done: this.#done, digest: this.#digest }
    try {
      writeFileAtomicallySync(this.#file, `${JSON.stringify(saved)}\n`, { durable: false })
    } catch (error) {
      this.failure = new Failure(
        exitCodes.refused,
        `cannot write ${this.#file}: ${(error as NodeJS.ErrnoException).code}`,
      )
    }
    this.#written = { at: monotonicMs(), done: this.#done }
  }
}

function readSaved(file: string): Saved | undefined {
  const text = readIfThere(file)
  if (text === undefined) return undefined
  const { run, done, digest } = Object(jsonOr(text))
  // The name of the run becomes part of a header.
  const isRun = typeof run === 'string' && /^[\w-]{1,100}$/.test(run)
  if (isRun && Number.isSafeInteger(done) && done >= 0 && typeof digest === 'string') return { run, done, digest }
  throw new Failure(exitCodes.refused, `${file} is not a file of --resume`, { hint: 'Use another file.' })
}
