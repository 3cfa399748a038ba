// Golden transcripts: test/cli/scripts/*.md.

import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { newShell } from '../support/cli.ts'

const folder = join(import.meta.dirname, 'scripts')

for (const name of readdirSync(folder).sort())
  test(`natter does what the transcript ${name} shows`, async t => {
    const { code, stdout, stderr } = await newShell(t).natter(['verify', join(folder, name)])
    assert.equal(code, 0, stdout + stderr)
  })
