// Replays the journal of a running daemon and checks the rows that it replaces or removes as a restore would: a backup can be made while
// they are there, and a check of the store finds only the last row of each thing.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { problemInRow } from '../../daemon/api/checking.ts'
import { Table } from '../../daemon/domain/model/table.ts'
import { sectionRows } from '../../daemon/domain/row-checks/sections.ts'
import { Replay } from '../../daemon/replay.ts'

export class CheckedReplay {
  readonly #replay = new Replay()
  #seen = 0
  #operation = ''

  constructor() {
    for (const [section, table] of Object.entries(this.#replay.state))
      if (table instanceof Table) table.onChange = (_, before) => before && this.#check(section, before)
  }

  /** What the journal in this folder has since the last call. */
  takeNew(folder: string): void {
    const text = readFileSync(join(folder, 'journal.ndjson'), 'utf8')
    const end = text.lastIndexOf('\n')
    const lines = text.slice(this.#seen, end).split('\n').slice(1)
    if (this.#seen === 0) assert.equal(JSON.parse(lines[0]!).position, 1, 'the journal was compacted')
    this.#seen = end
    for (const { op, facts } of lines.map(line => JSON.parse(line))) {
      this.#operation = op
      this.#check('organization', this.#replay.state.organization)
      this.#replay.take(facts)
    }
  }

  #check(section: string, row: object): void {
    const { row: shape, problem } = sectionRows[section as keyof typeof sectionRows]
    // An organization that is not founded yet has no permissions.
    if (section === 'organization' && this.#replay.state.users.size === 0) return
    const found = problemInRow(section, shape, row) ?? problem?.(row)
    assert.equal(found, undefined, `before ${this.#operation}: ${found} in ${JSON.stringify(row).slice(0, 300)}`)
  }
}
