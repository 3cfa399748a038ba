// Golden transcripts: test/cli/scripts/*.md.

import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { verifyPage } from '../verify/page.ts'

const folder = join(import.meta.dirname, 'scripts')

for (const name of readdirSync(folder).sort())
  test(`natter prints what the transcript ${name} shows`, async () => {
    assert.deepEqual((await verifyPage(join(folder, name))).differences, [])
  })
