// The parts of a store: all that is moved when one store takes the place of another in a folder.
import { readdirSync } from 'node:fs'
import { mkdir, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { syncFolder } from '../local/durable-files.ts'
import { cleanStopName } from './clean-stop.ts'
import { sealedLast } from './segment-format.ts'

export function partsIn(folder: string): string[] {
  return readdirSync(folder).filter(
    name =>
      ['state.json', 'secret', 'journal.ndjson', cleanStopName, 'messages', 'files', 'outbox', 'cluster.json'].includes(
        name,
      ) || sealedLast(name) !== undefined,
  )
}

/** All of them, or none if one of them cannot be moved. */
export async function moveParts(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true, mode: 0o700 })
  // What says whose store it is goes last: until then a move that was interrupted is begun again.
  const last = (name: string) => Number(name === 'cluster.json')
  const parts = partsIn(from).sort((a, b) => last(a) - last(b))
  const moved: string[] = []
  try {
    for (const name of parts) {
      await rename(join(from, name), join(to, name))
      moved.push(name)
    }
  } catch (error) {
    for (const name of moved.reverse()) await rename(join(to, name), join(from, name))
    throw error
  }
  await syncFolder(to)
}

/** Where a store goes that another one replaces. */
export function replacedFolder(folder: string, now: Date): string {
  return join(folder, `replaced-${now.toISOString().replace(/[:.]/g, '-')}`)
}
