// Files beside the store: avatars, emoji, uploads. Named by their content, so the same file is kept once.

import { createHash } from 'node:crypto'
import { mkdir, open, readFile, rename, stat } from 'node:fs/promises'
import { join } from 'node:path'

export interface Files {
  keep(bytes: Uint8Array): Promise<string>
  read(name: string): Promise<Uint8Array | undefined>
}

export function memoryFiles(): Files {
  const files = new Map<string, Uint8Array>()
  return {
    async keep(bytes) {
      const name = nameOf(bytes)
      files.set(name, bytes)
      return name
    },
    read: async name => files.get(name),
  }
}

export function folderFiles(folder: string): Files {
  return {
    async keep(bytes) {
      const name = nameOf(bytes)
      const path = join(folder, name)
      await mkdir(folder, { recursive: true, mode: 0o700 })
      if (await stat(path).catch(() => undefined)) return name
      const unfinished = `${path}.${process.pid}.tmp`
      const file = await open(unfinished, 'w', 0o600)
      try {
        await file.writeFile(bytes)
        await file.sync()
      } finally {
        await file.close()
      }
      await rename(unfinished, path)
      const directory = await open(folder)
      await directory.sync().finally(() => directory.close())
      return name
    },
    async read(name) {
      if (!/^[0-9a-f]{64}$/.test(name)) return undefined
      return readFile(join(folder, name)).catch(() => undefined)
    },
  }
}

function nameOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
