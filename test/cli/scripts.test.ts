// Golden transcripts: test/cli/scripts/*.txt, each with a daemon of its own home but one daemon for all.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { accountAt, newShell } from '../support/cli.ts'
import { startDaemon } from '../support/daemon.ts'
import { follow } from '../support/transcript.ts'

const folder = join(import.meta.dirname, 'scripts')

test('natter does what the transcripts show', async t => {
  const daemon = await startDaemon(t)
  const { email, api_key } = daemon.ready.owner
  for (const name of readdirSync(folder).sort())
    await t.test(name, async t => {
      const shell = newShell(t, accountAt(daemon.url, email, api_key))
      await follow(shell, readFileSync(join(folder, name), 'utf8'))
    })
})
