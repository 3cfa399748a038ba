// A handler in its thread: loaded, called with one message at a time, and ended when it takes too long.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Worker } from 'node:worker_threads'
import type { BotAccount, BotMessage, Request } from '../../../daemon/client/bot.ts'
import type { Repeater } from '../../../daemon/client/repeater.ts'
import { assetReader } from '../../base/version.ts'
import { printError } from '../../base/writer.ts'
import { packError } from './call-error.ts'
import type { FromWorker, ToWorker } from './worker.ts'

export class HandlerThread {
  /** What it was loaded from. */
  readonly files: readonly string[]
  readonly #worker: Worker
  readonly #onStray: (reason: string) => void
  #finish: ((error?: Error) => void) | undefined
  #request: Request | undefined
  #ended = false

  /** Throws with a sentence when the file cannot be used. `onStray` gets errors of what the handler started and did not wait for. */
  static async load(file: string, onStray: (reason: string) => void): Promise<HandlerThread> {
    const read = assetReader()
    const inside = read?.('bot-worker.cjs')
    const options = { workerData: { file, hooks: hooksAddress(read?.(hooksBundle)) }, stdout: true }
    const worker = inside
      ? new Worker(inside.toString(), { ...options, eval: true })
      : new Worker(workerFile(), options)
    // On stdout, what the handler prints would be mixed into the transcript.
    worker.stdout.setEncoding('utf8').on('data', printError)
    const loaded = await new Promise<readonly string[]>((resolve, reject) => {
      worker.once('message', (note: FromWorker) => {
        if (note.kind === 'loaded') resolve(note.files)
        else if (note.kind === 'unusable') reject(new Error(note.reason))
      })
      worker.once('error', reject)
      worker.once('exit', () => reject(new Error(`${file} ended the process while it was loaded`)))
    }).catch(async error => {
      await worker.terminate()
      throw error
    })
    return new HandlerThread(worker, loaded, onStray)
  }

  private constructor(worker: Worker, files: readonly string[], onStray: (reason: string) => void) {
    this.#worker = worker
    this.files = files
    this.#onStray = onStray
    worker.on('message', (note: FromWorker) => this.#hear(note))
    worker.on('error', error => this.#end(error))
    worker.on('exit', () => this.#end(new Error('the function ended its thread')))
  }

  /** Whether it cannot be called any more: it was ended, or ended itself. */
  get ended(): boolean {
    return this.#ended
  }

  /**
   * Resolves when the handler is done. Rejects with what it threw, or because it took too long; then it is ended. `repeater`: waits with its calls for a
   * server that is away.
   */
  handle(message: BotMessage, me: BotAccount, request: Request, within: number, repeater: Repeater): Promise<void> {
    this.#request = request
    return new Promise((resolve, reject) => {
      const withdraw = repeater.startTimer(within, () => {
        void this.end()
        this.#end(new Error(`the function did not finish within ${within / 1000} s; it was ended`))
      })
      this.#finish = error => {
        withdraw()
        this.#finish = undefined
        if (error) reject(error)
        else resolve()
      }
      this.#tell({ kind: 'handle', message, me })
    })
  }

  async end(): Promise<void> {
    this.#ended = true
    await this.#worker.terminate()
  }

  #hear(note: FromWorker): void {
    if (note.kind === 'done') this.#finish?.(note.error === undefined ? undefined : new Error(note.error))
    else if (note.kind === 'stray') this.#onStray(note.error)
    else if (note.kind === 'call') {
      const { call, method, path, params } = note
      this.#request!(method, path, params).then(
        reply => this.#tell({ kind: 'answer', call, reply }),
        (error: Error) => {
          // The function that would report it is gone.
          if (this.#ended) this.#onStray(error.message)
          else this.#tell({ kind: 'answer', call, error: packError(error) })
        },
      )
    }
  }

  #end(error: Error): void {
    this.#ended = true
    this.#finish?.(error)
  }

  #tell(note: ToWorker): void {
    if (!this.#ended) this.#worker.postMessage(note)
  }
}

/** The bundle, or the source in development. */
function workerFile(): string {
  const bundle = join(import.meta.dirname, 'bot-worker.cjs')
  return existsSync(bundle) ? bundle : join(import.meta.dirname, 'worker.ts')
}

const hooksBundle = 'bot-hooks.mjs'

/** `inside`: the bundle in the single executable. */
function hooksAddress(inside: Buffer | undefined): string {
  if (inside) return `data:text/javascript;base64,${inside.toString('base64')}`
  const bundle = join(import.meta.dirname, hooksBundle)
  return pathToFileURL(existsSync(bundle) ? bundle : join(import.meta.dirname, 'module-hooks.ts')).href
}
