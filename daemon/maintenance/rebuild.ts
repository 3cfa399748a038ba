// The state of a store, from its snapshot and its journal, without a daemon and without writing anything.

import { readSync } from 'node:fs'
import { problemInRow } from '../api/checking.ts'
import type { Fact } from '../domain/facts.ts'
import type { State } from '../domain/model/state.ts'
import { queueRegistration } from '../domain/row-checks/beside.ts'
import { checkRows } from '../domain/row-checks/index.ts'
import { parseFacts, readSegment } from '../journal/segment-reader.ts'
import { readOpenState, type StateDocument } from '../journal/state-file.ts'
import { Replay } from '../replay.ts'
import type { StoreView } from './store-view.ts'

interface Rebuilt {
  readonly state: State
  readonly secretVerifier: string | undefined
  /** Entries of the journal after the snapshot. */
  readonly entries: number
  /** Event queues, those of clients that are gone included until they expire. */
  readonly queues: number
}

/** Give the document where it has been read already. */
export async function rebuildState(view: StoreView, read?: StateDocument<unknown[]>): Promise<Rebuilt> {
  const document = read ?? (view.state && (await readOpenState(view.state.fd, view.state.name)))
  const replay = new Replay({ sections: document?.sections ?? {}, readFile: name => readBytes(view, name) })
  let entries = 0
  let previous: number | undefined
  for (const segment of view.segments) {
    for await (const block of readSegment(segment, view.snapshot.position, previous, parseFacts<Fact>))
      for (const { facts } of block) {
        entries++
        checkRowsIn(facts)
        replay.take(facts)
      }
    previous = segment.last
  }
  const { state, secretVerifier, queues } = replay
  return { state, secretVerifier, entries, queues: queues.size }
}

/** Whole states and event queues in a journal are rows like those of a snapshot. */
function checkRowsIn(facts: readonly Fact[]): void {
  for (const fact of facts)
    if (fact.type === 'store.restored') for (const _ of checkRows(fact.sections));
    else if (fact.type === 'queue.registered') {
      const problem = problemInRow('queue', queueRegistration, fact.queue)
      if (problem !== undefined) throw new Error(problem)
    }
}

function readBytes({ sideFiles }: StoreView, name: string): Buffer {
  const file = sideFiles.find(({ entry }) => entry.name === name)
  if (!file) throw new Error(`the snapshot does not name the file ${name}`)
  const bytes = Buffer.allocUnsafe(file.size)
  // A read may give less than was asked for.
  for (let at = 0; at < bytes.length; ) {
    const got = readSync(file.fd, bytes, at, bytes.length - at, at)
    if (got === 0) throw new Error(`${file.name} became shorter while it was read`)
    at += got
  }
  return bytes
}
