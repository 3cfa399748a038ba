// A snapshot with rows of every kind that a test edits, as a stranger would.

import { Replay } from '../../daemon/replay.ts'
import { story } from './every-fact.ts'

export interface Document {
  sums: unknown
  sections: Record<string, any>
}

/** A world with rows of every kind, as a snapshot without checksums. */
function rowsOfEveryKind(): Document {
  const replay = new Replay()
  for (const fact of story) {
    // What comes after it takes things away.
    if (fact.type === 'bot-storage.removed') break
    replay.take([fact])
  }
  const sections = Object.entries(replay.state.save(true)).map(([name, rows]) => [name, [...rows]])
  const document = { format: 3, position: 0, time: 0, sections: Object.fromEntries(sections), sums: 'edited' }
  return JSON.parse(JSON.stringify(document))
}

/** Its text. */
export const original = JSON.stringify(rowsOfEveryKind())

/** The text after a change of its rows. */
export function changed(change: (sections: Document['sections']) => unknown): string {
  const document = JSON.parse(original) as Document
  change(document.sections)
  return JSON.stringify(document)
}
