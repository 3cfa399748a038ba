// jq compiled to WebAssembly. The library moves input and output byte by byte, which for thousands of events takes longer than jq
// itself; here they move in blocks.

import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { Jq } from 'jq-wasm'

/** As much of WebAssembly as is used; Node's own types do not describe it. */
interface Wasm {
  compile(bytes: Uint8Array): Promise<object>
  readonly Instance: new (module: object, imports: Imports) => { readonly exports: Readonly<Record<string, unknown>> }
  readonly Memory: new (...args: never) => Memory
}

interface Memory {
  readonly buffer: ArrayBuffer
}

/** Functions by the module and the name under which the compiled program imports them. */
type Imports = Readonly<Record<string, Readonly<Record<string, unknown>>>>

export interface JqRun {
  readonly stdout: string
  readonly stderr: string
  readonly exitCode: number
}

export class JqEngine {
  readonly #jq: Jq
  readonly #blocks: Blocks

  private constructor(jq: Jq, blocks: Blocks) {
    this.#jq = jq
    this.#blocks = blocks
  }

  static async load(): Promise<JqEngine> {
    const { loadJq } = await import('jq-wasm')
    const { resolve } = createRequire(join(import.meta.dirname, 'jq-engine.js'))
    const { compile, Instance, Memory } = (globalThis as unknown as { readonly WebAssembly: Wasm }).WebAssembly
    const compiled = await compile(await readFile(resolve('jq-wasm/jq.wasm')))
    const blocks = new Blocks()
    const jq = await loadJq({
      instantiateWasm(imports: Imports, done: (instance: object, module: object) => void) {
        const instance = new Instance(compiled, blocks.replaceIn(imports))
        blocks.memory = Object.values(instance.exports).find(value => value instanceof Memory)
        done(instance, compiled)
      },
    })
    return new JqEngine(jq, blocks)
  }

  /** Compiles the program, which takes milliseconds because jq compiles its own library too, and applies it to all of the input. */
  run(input: string, program: string, flags: readonly string[]): JqRun {
    const { result, stdout } = this.#blocks.during(input, () => this.#jq.raw('', program, [...flags]))
    return { ...result, stdout }
  }
}

/** The system calls that read and write, with the signature that WASI gives them. */
type SystemCall = (fd: number, vectors: number, count: number, total: number) => number

/** Replaces two of the functions that the compiled jq imports. */
class Blocks {
  memory: Memory | undefined
  #input: Uint8Array = new Uint8Array(0)
  #at = 0
  #output: Buffer[] = []

  /** They have short names in the table, so they are found by the names of the functions. */
  replaceIn(imports: Imports): Imports {
    const replaced = new Map<string, (original: SystemCall) => SystemCall>([
      ['_fd_read', () => (_fd, vectors, count, total) => this.#read(vectors, count, total)],
      [
        '_fd_write',
        original => (fd, vectors, count, total) =>
          fd === 1 ? this.#write(vectors, count, total) : original(fd, vectors, count, total),
      ],
    ])
    let found = 0
    const tables = Object.entries(imports).map(([module, table]) => {
      const functions = Object.entries(table).map(([name, value]) => {
        const replace = typeof value === 'function' ? replaced.get(value.name) : undefined
        if (!replace) return [name, value]
        found++
        return [name, replace(value as SystemCall)]
      })
      return [module, Object.fromEntries(functions)]
    })
    if (found !== replaced.size) throw new Error('this version of jq-wasm reads and writes in another way')
    return Object.fromEntries(tables)
  }

  during<T>(input: string, work: () => T): { result: T; stdout: string } {
    this.#input = Buffer.from(input)
    this.#at = 0
    this.#output = []
    const result = work()
    const stdout = Buffer.concat(this.#output).toString('utf8')
    this.#input = new Uint8Array(0)
    this.#output = []
    return { result, stdout }
  }

  #read(vectors: number, count: number, total: number): number {
    return this.#each(vectors, count, total, block => {
      const part = this.#input.subarray(this.#at, this.#at + block.length)
      block.set(part)
      this.#at += part.length
      return part.length
    })
  }

  #write(vectors: number, count: number, total: number): number {
    return this.#each(vectors, count, total, block => {
      // A copy: the memory is jq's.
      this.#output.push(Buffer.from(block))
      return block.length
    })
  }

  /** Vectors are pairs of address and length. Returns the number of an error, which is 0. */
  #each(vectors: number, count: number, total: number, move: (block: Uint8Array) => number): number {
    const { buffer } = this.memory!
    const view = new DataView(buffer)
    let moved = 0
    for (let vector = vectors; vector < vectors + 8 * count; vector += 8) {
      const length = view.getUint32(vector + 4, true)
      const done = move(new Uint8Array(buffer, view.getUint32(vector, true), length))
      moved += done
      if (done < length) break
    }
    view.setUint32(total, moved, true)
    return 0
  }
}
