// A file layer with faults, under everything in this process that uses node:fs. It counts the calls that change one folder, and
// breaks one of them, or that one and all after it.

import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

export interface Fault {
  /** The number of the call that fails, from 1. */
  readonly at: number
  readonly code: 'EIO' | 'ENOSPC'
  /** Whether all calls after it fail too. */
  readonly lasts: boolean
}

/** How the calls are made: what they return, and what they are about. */
type Form = 'returns' | 'calls back' | 'promises'
type Call = (...args: any[]) => any

const called: readonly (readonly [Form, readonly string[]])[] = [
  ['returns', ['openSync', 'writeFileSync', 'renameSync', 'fsyncSync', 'ftruncateSync', 'mkdirSync', 'rmSync']],
  ['calls back', ['write', 'fdatasync', 'fsync']],
  ['promises', ['rename', 'unlink', 'rm', 'mkdir', 'chmod', 'writeFile', 'open']],
]
const ofHandles = ['appendFile', 'datasync', 'write', 'sync']
const writes = new Set(['write', 'appendFile'])
const syncs = new Set(['fdatasync', 'fsync', 'fsyncSync', 'datasync', 'sync'])

export class BrokenDisk {
  /** Names of the calls so far. */
  readonly seen: string[] = []
  /** The name of the call that failed first. */
  broke: string | undefined
  readonly #folder: string
  readonly #fault: Fault | undefined
  /** Bytes of each open file that were synced: what is not is lost when a sync fails. */
  readonly #synced = new Map<string, number>()
  /** What each file held where it was written over since. */
  readonly #writtenOver = new Map<string, (() => void)[]>()
  readonly #undo: (() => void)[] = []

  private constructor(folder: string, fault: Fault | undefined) {
    this.#folder = folder
    this.#fault = fault
  }

  /** Counts, and breaks what the fault says, until `mend`. */
  static async install(folder: string, fault?: Fault): Promise<BrokenDisk> {
    const disk = new BrokenDisk(folder, fault)
    for (const [form, names] of called)
      for (const name of names) disk.#replace((form === 'promises' ? fs.promises : fs) as object, name, form)
    const handle = await fs.promises.open('/dev/null')
    for (const name of ofHandles) disk.#replace(Object.getPrototypeOf(handle), name, 'promises')
    await handle.close()
    syncBuiltinESMExports()
    return disk
  }

  mend(): void {
    for (const undo of this.#undo.splice(0)) undo()
    syncBuiltinESMExports()
  }

  #replace(holder: object, name: string, form: Form): void {
    const home = holder as Record<string, Call>
    const real = home[name]!
    const disk = this
    home[name] = function (this: unknown, ...args: any[]) {
      // A handle is `this` of its own calls.
      const file = disk.#fileOf(this instanceof Object && 'fd' in this ? this.fd : args[0])
      const error = file === undefined ? undefined : disk.#take(name, file, args)
      if (error === undefined) return real.apply(this, args)
      if (form === 'returns') throw error
      if (form === 'promises') return Promise.reject(error)
      setImmediate(args.at(-1), error, 0)
    }
    this.#undo.push(() => {
      home[name] = real
    })
  }

  /** The path, if it is in the folder. */
  #fileOf(subject: unknown): string | undefined {
    let path = String(subject)
    if (typeof subject === 'number')
      try {
        path = fs.readlinkSync(`/proc/self/fd/${subject}`)
      } catch {
        return undefined
      }
    return path.startsWith(this.#folder) ? path : undefined
  }

  /** Counts the call; the error, if it is to fail. */
  #take(name: string, file: string, args: readonly any[]): Error | undefined {
    const count = this.seen.push(name)
    const fails = this.#fault && (this.#fault.lasts ? count >= this.#fault.at : count === this.#fault.at)
    if (writes.has(name) && typeof args[4] === 'number') this.#keepOld(file, args)
    if (!fails) {
      if (syncs.has(name)) {
        this.#synced.set(file, sizeOf(file))
        this.#writtenOver.delete(file)
      }
      return undefined
    }
    const { code } = this.#fault!
    this.broke ??= name
    if (writes.has(name) && typeof args[0] === 'number') writePart(args)
    if (syncs.has(name)) this.#loseUnsynced(file)
    return Object.assign(new Error(`${code}: injected, ${name}`), { code, syscall: name })
  }

  #keepOld(file: string, [fd, , , length, at]: readonly any[]): void {
    const old = Buffer.alloc(length)
    const bytes = fs.readSync(fd, old, 0, length, at)
    const undo = () => void fs.writeSync(fd, old, 0, bytes, at)
    this.#writtenOver.set(file, [undo, ...(this.#writtenOver.get(file) ?? [])])
  }

  /** As the kernel does: pages that could not be written are forgotten, and the next sync reports success. */
  #loseUnsynced(file: string): void {
    if (!fs.statSync(file, { throwIfNoEntry: false })?.isFile()) return
    for (const undo of this.#writtenOver.get(file) ?? []) undo()
    fs.truncateSync(file, this.#synced.get(file) ?? 0)
  }
}

/** A write that fails can have written a part. */
function writePart([fd, bytes, from = 0, length = bytes.length - from, at]: readonly any[]): void {
  fs.writeSync(fd, bytes, from, Math.floor(length / 2), at)
}

function sizeOf(file: string): number {
  return fs.statSync(file, { throwIfNoEntry: false })?.size ?? 0
}
