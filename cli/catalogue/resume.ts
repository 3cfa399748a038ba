// `--batch --resume FILE`: how far a batch has come, in a file, and the keys that make it safe to repeat the lines that were
// under way when it ended.

import { createHash, randomUUID } from 'node:crypto'
import { writeFileAtomicallySync } from '../../daemon/local/atomic-file.ts'
import { jsonOr } from '../../daemon/local/json.ts'
import { exitCodes, Failure } from '../base/failure.ts'
import { readIfThere } from '../base/files.ts'

interface Saved {
  /** Different for each batch; part of the keys. */
  readonly run: string
  /** The number of lines from the start that are done. */
  readonly done: number
  /** Digest of these lines. */
  readonly digest: string
}

/** Milliseconds between two writes. What happened since then is repeated with the same keys, so nothing is done twice. */
const interval = 200

export class Resume {
  readonly #file: string
  readonly #saved: Saved
  readonly #hash = createHash('sha256')
  /** Digests of lines that are not done yet, by number. */
  readonly #ahead = new Map<number, string>()
  #done: number
  #digest: string
  #written = 0

  constructor(file: string) {
    this.#file = file
    this.#saved = readSaved(file) ?? { run: randomUUID(), done: 0, digest: '' }
    this.#done = this.#saved.done
    this.#digest = this.#saved.digest
    // Before the first call: a key that is not in the file could not be used again.
    this.write()
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
    this.#hash.update(`${text}\n`)
    if (line < this.#saved.done) return false
    const digest = this.#hash.copy().digest('hex')
    if (line > this.#saved.done) {
      this.#ahead.set(line, digest)
      return true
    }
    if (digest === this.#saved.digest) return false
    throw new Failure(exitCodes.refused, `the first ${line} lines are not those that ${this.#file} is about`, {
      hint: `Remove ${this.#file} to start over.`,
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
    if (Date.now() - this.#written >= interval) this.write()
  }

  write(): void {
    const saved: Saved = { run: this.#saved.run, done: this.#done, digest: this.#digest }
    try {
      writeFileAtomicallySync(this.#file, `${JSON.stringify(saved)}\n`, { durable: false })
    } catch (error) {
      throw new Failure(exitCodes.refused, `cannot write ${this.#file}: ${(error as NodeJS.ErrnoException).code}`)
    }
    this.#written = Date.now()
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
