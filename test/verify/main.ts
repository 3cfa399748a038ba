// `tsx test/verify/main.ts FILE.md…`: runs the transcripts of pages. --update writes what the commands print into the page, --apart gives
// every block an organization of its own, --preset NAME is for the daemon.

import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { verifyPage } from './page.ts'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { apart: { type: 'boolean' }, update: { type: 'boolean' }, preset: { type: 'string' } },
})

for (const file of positionals) {
  const flags = values.preset === undefined ? [] : ['--preset', values.preset]
  const { commands, differences, page } = await verifyPage(file, { flags, apart: values.apart === true })
  if (values.update) writeFileSync(file, page)
  else if (differences.length > 0) process.exitCode = 1
  console.log([`${file}: ${commands} commands, ${differences.length} different`, ...differences].join('\n\n'))
}
