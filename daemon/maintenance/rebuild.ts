// The state of a store, from its snapshot and its journal, without a daemon and without writing anything.

import { readSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import { problemInRow } from '../api/checking.ts'
import { RealClock } from '../clock.ts'
import type { Fact } from '../domain/facts.ts'
import { announceFact } from '../domain/index.ts'
import { queueRegistration } from '../domain/model/rows/queues.ts'
import type { State } from '../domain/model/state.ts'
import { checkRows, RowsRefused } from '../domain/row-checks/index.ts'
import type { QueuesParts } from '../events/queue.ts'
import { Queues } from '../events/queues.ts'
import { JournalDamaged } from '../journal/journal.ts'
import { parseFacts, readSegment } from '../journal/segment-reader.ts'
import { readOpenState, SnapshotDamaged, type StateDocument } from '../journal/state-file.ts'
import { Replay, takeFact } from '../replay.ts'
import { findLine, type StoreView } from './store-view.ts'

interface Rebuilt {
  readonly state: State
  readonly secretVerifier: string | undefined
  /** Entries of the journal after the snapshot. */
  readonly entries: number
  /** Event queues, those of clients that are gone included until they expire. */
  readonly queues: number
  /** Those of accounts that do not exist. */
  readonly ownerlessQueues: number
}

/** Give the document where it has been read already. */
export async function rebuildState(view: StoreView, read?: StateDocument<unknown[]>): Promise<Rebuilt> {
  const document = read ?? (view.state && (await readOpenState(view.state.fd, view.state.name)))
  const sections = document?.sections ?? {}
  const queues = new Queues(untimed)
  queues.load(sections.queues ?? [])
  const replay = new Replay({ sections, readFile: name => readBytes(view, name) }, queues)
  let entries = 0
  let previous: number | undefined
  for (const segment of view.segments) {
    for await (const block of readSegment(segment, view.snapshot.position, previous, parseFacts<Fact>))
      for (const { position, facts } of block) {
        entries++
        for (const fact of facts) {
          const problem = problemInTaking(replay, queues, position, fact)
          if (problem === undefined) continue
          const kind = JSON.stringify(fact?.type ?? fact).slice(0, 100)
          throw new JournalDamaged(
            segment.file,
            await findLine(segment, position),
            `the fact ${kind} cannot be applied: ${problem}`,
          )
        }
      }
    previous = segment.last
  }
  const { state, secretVerifier } = replay
  const ownerlessQueues = [...queues.values()].filter(({ userId }) => !state.users.has(userId)).length
  return { state, secretVerifier, entries, queues: queues.size, ownerlessQueues }
}

/** Their clients do not poll, so nothing in them waits and nothing expires. */
const untimed: QueuesParts = {
  clock: new RealClock(),
  limits: { maxPending: Infinity, maxPendingSize: Infinity, heartbeatMs: () => Infinity },
  remove() {},
  tick() {},
}

/** Takes the fact, and makes the events that a daemon with these queues makes of it at its start. Returns why that cannot be done. */
function problemInTaking(replay: Replay, queues: Queues, position: number, fact: Fact): string | undefined {
  try {
    checkFact(replay.state, fact)
    if (takeFact(replay, position, fact) && queues.listened) queues.push(position, announceFact(replay.state, fact))
    return undefined
  } catch (error) {
    // Anything else is about a field that is missing or has another form, in the words of a defect.
    return error instanceof RowsRefused ? error.message : 'a field of it is missing, or has another form'
  }
}

function checkFact({ messages }: State, fact: Fact): void {
  // Whole states and event queues are rows like those of a snapshot.
  if (fact.type === 'store.restored') for (const _ of checkRows(fact.sections));
  else if (fact.type === 'queue.registered') {
    const problem = problemInRow('queue', queueRegistration, fact.queue)
    if (problem !== undefined) throw new RowsRefused(problem)
  } else checkIds(fact)
  // Sets of IDs take memory up to the highest one.
  if (fact.type === 'message-flags.changed' && (fact.runs.at(-1) ?? 0) > messages.lastId)
    throw new RowsRefused('runs: there is no such message')
}

/** Tables by ID would take another number for the next lower ID. */
function checkIds(value: object): void {
  for (const [name, part] of Object.entries(value)) {
    if (part !== null && typeof part === 'object') checkIds(part)
    if (typeof part === 'number' && /^id$|Id$/.test(name) && !Number.isSafeInteger(part))
      throw new RowsRefused(`${name}: must be an integer`)
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
  if (crc32(bytes) !== file.entry.sum)
    throw new SnapshotDamaged(file.name, 1, 'does not match its checksum in state.json')
  return bytes
}
