// Every recipe of docs/cookbook.md is run, and must print what the page shows.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { savedSnippets } from '../../daemon/api/messages/saved-snippets.ts'
import { accountAt, newShell } from '../support/cli.ts'
import { startDaemon } from '../support/daemon.ts'
import { assertLines, runScript } from '../support/transcript.ts'

const page = readFileSync(join(import.meta.dirname, '../../docs/cookbook.md'), 'utf8')
const recipes = [...page.matchAll(/^## (\d+)\. (.*?)\n.*?^```sh\n(.*?)^```\n\n^```text\n(.*?)^```$/gms)]

describe('the cookbook', () => {
  test('has twenty recipes or more, numbered, each with what it prints', () => {
    assert.ok(recipes.length >= 20)
    assert.equal(recipes.length, page.match(/^## /gm)!.length)
    assert.deepEqual(
      recipes.map(([, number]) => Number(number)),
      recipes.map((_, index) => index + 1),
    )
  })

  test('works', async t => {
    const daemon = await startDaemon(t, { flags: ['--memory'] })
    for (const [, number, title, script, printed] of recipes)
      await t.test(`${number}. ${title}`, async t => {
        const { email, api_key } = daemon.ready.owner
        const shell = newShell(t, accountAt(daemon.url, email, api_key))
        const { output, code } = await runScript(shell, script!)
        assert.equal(code, 0, output)
        assertLines(output.trimEnd().split('\n'), printed!.trimEnd().split('\n'), title!)
        // Recipes are read one by one, so none may rely on another's traces.
        const { saved_snippets } = await daemon.owner.call(savedSnippets.list, {})
        for (const { id } of saved_snippets) await daemon.owner.call(savedSnippets.delete, { saved_snippet_id: id })
      })
  })
})
