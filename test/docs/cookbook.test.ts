// Every recipe of docs/cookbook.md is run, and must print what the page shows.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { verifyPage } from '../verify/page.ts'

const file = join(import.meta.dirname, '../../docs/cookbook.md')
const page = readFileSync(file, 'utf8')

describe('the cookbook', () => {
  test('has twenty recipes or more, numbered, each with one transcript', () => {
    const recipes = page.split(/^## /m).slice(1)
    assert.ok(recipes.length >= 20)
    assert.deepEqual(
      recipes.map(recipe => Number.parseInt(recipe, 10)),
      recipes.map((_, index) => index + 1),
    )
    for (const recipe of recipes) assert.equal(recipe.match(/^```console$/gm)?.length, 1, recipe)
  })

  test('shows what its commands print', async () => {
    assert.deepEqual((await verifyPage(file, { apart: true, timeout: 120_000 })).differences, [])
  })
})
