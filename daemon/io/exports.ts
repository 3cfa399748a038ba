// Exports are written here, one at a time and beside the traffic. Which ones wait is in the journal, so a restart begins
// again with what it had not finished.

import type { Export } from '../domain/model/rows/organization.ts'
import { collectContent } from '../domain/organization/exports/content.ts'
import { failExport, finishExport, isWaiting } from '../domain/organization/exports/settle.ts'
import type { Outcome, Surroundings } from '../domain/resource.ts'
import type { Engine } from '../engine.ts'
import { version } from '../local/version.ts'
import { warn } from '../local/warnings.ts'
import { archiveFormat, describeMissing, writeArchive } from './archive.ts'
import type { Files } from './files.ts'
import { namedFiles } from './unneeded-files.ts'

interface ExportsParts {
  readonly engine: Engine
  readonly files: Files
  readonly surroundings: () => Surroundings
}

export class Exports {
  readonly #parts: ExportsParts
  #running = false
  #current: Promise<void> | undefined

  constructor(parts: ExportsParts) {
    this.#parts = parts
  }

  start(): void {
    this.#running = true
    this.reconsider()
  }

  /** What is being written is abandoned, and written again after the next start. */
  async stop(): Promise<void> {
    this.#running = false
    await this.#current
  }

  /** Resolves when nothing is being written and nothing waits. */
  async quiet(): Promise<void> {
    while (this.#current) await this.#current
  }

  /** Facts were taken: an export may have been requested. */
  reconsider(): void {
    if (!this.#running || this.#current) return
    const next = this.#parts.engine.state.exports.find('pending', 1)
    if (!next) return
    const making = this.#make(next).finally(() => {
      this.#current = undefined
      this.reconsider()
    })
    this.#current = making.catch(() => {})
    this.#parts.engine.boundary.run(() => making)
  }

  async #make(row: Export): Promise<void> {
    const { engine, files, surroundings } = this.#parts
    const archive = files.receive()
    try {
      // What a crash would forget must not be in it.
      await engine.settled()
      await this.#write(row, chunk => archive.write(chunk))
      const file = await archive.keep()
      await this.#settle('finish-export', ctx => finishExport(ctx, row, file))
    } catch (error) {
      // After a stop or a reset there is no row to settle.
      if (!this.#running || !isWaiting(surroundings(), row)) return
      warn(`the export ${row.id} failed: ${(error as Error).message}`)
      await this.#settle('fail-export', ctx => failExport(ctx, row)).catch(() => {
        // The store cannot be written, and the daemon is about to stop.
        this.#running = false
      })
    } finally {
      await archive.discard().catch(() => {})
    }
  }

  async #write(row: Export, write: (chunk: Uint8Array) => Promise<void>): Promise<void> {
    const { files, surroundings } = this.#parts
    const { state, now } = surroundings()
    const content = collectContent(state, row.kind)
    const head = {
      natter: 'export',
      format: archiveFormat,
      version: version(),
      organization: content.organization,
      export_type: row.kind,
      exported_at: new Date(now).toISOString(),
    } as const
    const check = () => {
      if (!this.#running || !isWaiting(surroundings(), row)) throw new Error('it is no longer wanted')
    }
    const named = () => new Set(namedFiles(surroundings().state))
    // Files can be deleted meanwhile.
    const find = (name: string) =>
      files.find(name).catch(error => {
        if (named().has(name)) throw error
        return undefined
      })
    const missing = await writeArchive({ head, ...content, find, check }, write)
    if (missing.length === 0) return
    const stillNamed = named()
    const lost = missing.filter(name => stillNamed.has(name))
    if (lost.length > 0)
      warn(`the export ${row.id} lacks ${describeMissing(lost)}. The store has lost them, or their bytes have changed`)
  }

  async #settle(op: string, decide: (ctx: Surroundings) => Outcome<object>): Promise<void> {
    await this.#parts.engine.run(op, null, () => decide(this.#parts.surroundings()))
  }
}
