// npx tsx docs/event-examples.ts: records an event of every kind for docs/generated/events.md, as `natter trigger` makes it happen in a dev organization.
// `test/cli/trigger.test.ts` compares the record with the events that it sees.

import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { triggers } from '../cli/commands/test/trigger/index.ts'
import { root } from './generate/sources.ts'

const natter = join(root, 'bin/natter')
const daemon = ['exec', '--preset', 'dev', '--secret', 'events', '--clock', 'frozen@2030-01-01T09:00:00Z']
const printed = execFileSync(natter, [...daemon, '--', natter, 'trigger', '--json', ...Object.keys(triggers)], {
  encoding: 'utf8',
})
const happened: { kind: string; event: object }[] = JSON.parse(printed)
const examples = Object.fromEntries(happened.map(({ kind, event }) => [kind, event]))
writeFileSync(join(root, 'docs/generate/event-examples.json'), `${JSON.stringify(examples, null, 2)}\n`)
