// The mail a daemon wrote beside its store.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestDaemon } from './daemon.ts'
import { until } from './until.ts'

/** By the folder of the store. */
export function mailsIn(data: string): string[] {
  const outbox = join(data, 'outbox')
  try {
    return readdirSync(outbox)
      .filter(name => name.endsWith('.eml'))
      .map(name => readFileSync(join(outbox, name), 'utf8'))
  } catch {
    // Made with the first mail.
    return []
  }
}

/** Waits for a mail that has this in it. */
export async function mailWith(daemon: TestDaemon, pattern: RegExp): Promise<RegExpExecArray> {
  return until(() => {
    for (const mail of mailsIn(daemon.data)) {
      const found = pattern.exec(mail)
      if (found) return found
    }
    return undefined
  })
}
