// Files beside the store: avatars, emoji, uploads. Named by their content, so the same file is kept once.

import { createHash } from 'node:crypto'
import { rmSync } from 'node:fs'
import { mkdir, readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { writeFileAtomically } from '../journal/atomic-file.ts'

export interface Files {
  keep(bytes: Uint8Array): Promise<string>
  read(name: string): Promise<Uint8Array | undefined>
  /** Everything there is, files that were not finished too. */
  list(): Promise<string[]>
  /** At once, so that nobody can begin to need it meanwhile. Does nothing to a file that somebody is just keeping. */
  remove(name: string): void
}

export function memoryFiles(): Files {
  const files = new Map<string, Uint8Array>()
  const inHand = new InHand()
  return {
    keep: bytes =>
      inHand.during(nameOf(bytes), async name => {
        files.set(name, bytes)
      }),
    read: async name => files.get(name),
    list: async () => [...files.keys()],
    remove: name => {
      if (!inHand.has(name)) files.delete(name)
    },
  }
}

export function folderFiles(folder: string): Files {
  const inHand = new InHand()
  return {
    keep: bytes =>
      inHand.during(nameOf(bytes), async name => {
        const path = join(folder, name)
        await mkdir(folder, { recursive: true, mode: 0o700 })
        if (!(await stat(path).catch(() => undefined))) await writeFileAtomically(path, bytes)
      }),
    async read(name) {
      if (!/^[0-9a-f]{64}$/.test(name)) return undefined
      return readFile(join(folder, name)).catch(() => undefined)
    },
    list: () => readdir(folder).catch(() => []),
    remove(name) {
      if (!inHand.has(name.split('.', 1)[0]!)) rmSync(join(folder, name), { force: true })
    },
  }
}

/** Files that are kept just now, and until the caller has had the time to refer to them. */
class InHand {
  readonly #names = new Map<string, number>()

  has(name: string): boolean {
    return this.#names.has(name)
  }

  async during(name: string, work: (name: string) => Promise<void>): Promise<string> {
    this.#names.set(name, (this.#names.get(name) ?? 0) + 1)
    try {
      await work(name)
      return name
    } finally {
      // The command comes in the same turn as the answer.
      setImmediate(() => this.#letGo(name))
    }
  }

  #letGo(name: string): void {
    const others = this.#names.get(name)! - 1
    if (others > 0) this.#names.set(name, others)
    else this.#names.delete(name)
  }
}

function nameOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
