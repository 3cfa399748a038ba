// Figures of a store, read without a daemon: its size and what it holds.

import { statSync } from 'node:fs'
import { join } from 'node:path'
import { rebuildState } from './rebuild.ts'
import { StoreView } from './store-view.ts'

interface StoreStats {
  /** Of the newest entry of the journal. */
  readonly position: number
  /** null before the first compaction. */
  readonly snapshot: { readonly position: number; readonly made: string } | null
  /** Bytes on disk. */
  readonly bytes: {
    readonly snapshot: number
    readonly messages: number
    readonly journal: number
    readonly uploads: number
    readonly outbox: number
    readonly total: number
  }
  readonly journal_entries: number
  readonly users: number
  readonly bots: number
  readonly channels: number
  readonly messages: number
  readonly uploads: number
  /** On disk: uploads, avatars, emoji and exports. Equal contents are one file. */
  readonly files: number
  readonly queues: number
}

export async function readStats(folder: string): Promise<StoreStats> {
  const view = await StoreView.open(folder)
  try {
    const { state, entries, queues } = await rebuildState(view)
    const users = [...state.users.values()].filter(user => user.active)
    const bots = users.filter(user => user.bot).length
    const { position, time } = view.snapshot
    return {
      position: view.position,
      snapshot: view.state ? { position, made: new Date(time).toISOString() } : null,
      bytes: countBytes(view),
      files: [...view.looseFiles()].filter(isUpload).length,
      journal_entries: entries,
      users: users.length - bots,
      bots,
      channels: state.channels.size,
      messages: state.messages.count,
      uploads: state.attachments.size,
      queues,
    }
  } finally {
    view.close()
  }
}

function isUpload(name: string): boolean {
  return name.startsWith('files/')
}

function countBytes(view: StoreView): StoreStats['bytes'] {
  const snapshot = view.state?.size ?? 0
  const messages = view.sideFiles.reduce((sum, { size }) => sum + size, 0)
  const journal = view.segments.reduce((sum, { size }) => sum + size, 0)
  let uploads = 0
  let outbox = 0
  for (const name of view.looseFiles()) {
    const size = statSync(join(view.folder, name), { throwIfNoEntry: false })?.size ?? 0
    if (isUpload(name)) uploads += size
    else outbox += size
  }
  return { snapshot, messages, journal, uploads, outbox, total: snapshot + messages + journal + uploads + outbox }
}
