// The limit of files and connections that a process of this machine may have open.

import { readFileSync } from 'node:fs'

export function openFiles(): number {
  try {
    return Number(/^Max open files\s+\d+\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1] ?? 0)
  } catch {
    return 0
  }
}
