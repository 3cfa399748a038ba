// The sources that are mutated, and the tests that have to find each of their mutants: those that run in the test's own
// process, because a mutant is switched on there.

import { readdirSync } from 'node:fs'
import { join } from 'node:path'

export interface Target {
  /** A folder of sources. */
  readonly folder: string
  /** Those of one group are loaded together. The next group is asked only if the one before it has noticed nothing. */
  readonly groups: Readonly<Record<string, readonly string[]>>
}

export const targets: readonly Target[] = [
  {
    folder: 'daemon/domain/rules',
    groups: {
      rules: [
        'test/laws/permissions.test.ts',
        'test/domain/rules/channels.test.ts',
        'test/domain/rules/people.test.ts',
        'test/domain/rules/group-values.test.ts',
        'test/domain/rules/audiences.test.ts',
        'test/domain/rules/message-rules.test.ts',
        'test/domain/rules/rule.test.ts',
      ],
      visibility: ['test/domain/channels/visibility.test.ts'],
      histories: ['test/proof/histories.test.ts'],
    },
  },
  {
    folder: 'daemon/journal',
    groups: {
      journal: [
        'test/journal/segment-format.test.ts',
        'test/journal/segment-reader.test.ts',
        'test/journal/segments.test.ts',
        'test/journal/file-journal.test.ts',
        'test/journal/state-file.test.ts',
        'test/journal/side-files.test.ts',
        'test/local/durable-files.test.ts',
        'test/journal/line-blocks.test.ts',
        'test/journal/replicated-journal.test.ts',
        'test/journal/store-folder.test.ts',
        'test/local/atomic-file.test.ts',
        'test/journal/journal-flush-order.test.ts',
        'test/journal/journal.test.ts',
        'test/journal/snapshots.test.ts',
        'test/journal/journal-damage.test.ts',
        'test/journal/store-lock.test.ts',
      ],
      messages: ['test/domain/model/message-store.test.ts'],
      cluster: ['test/cluster/log.test.ts'],
    },
  },
]

/** The sources of a target, as paths from the root. */
export function sourcesOf(root: string, { folder }: Target): string[] {
  return readdirSync(join(root, folder))
    .filter(name => name.endsWith('.ts'))
    .sort()
    .map(name => `${folder}/${name}`)
}
