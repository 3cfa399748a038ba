// `natter help cheats`: the commands of the cookbook. What they print is in docs/cookbook.md, where a test runs them.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../base/version.ts'
import { blocksIn } from './verify/transcript.ts'

/** Defined by the bundler. */
declare const NATTER_COOKBOOK: string | undefined

export function cheats(): string {
  const cookbook =
    typeof NATTER_COOKBOOK === 'string'
      ? NATTER_COOKBOOK
      : readFileSync(join(packageRoot(), 'docs/cookbook.md'), 'utf8')
  const recipes = cookbook.split(/^## /m).slice(1).map(recipeText)
  return `Recipes to copy. docs/cookbook.md also shows what each of them prints.\n\n${recipes.join('\n')}`
}

/** Its title, and its commands as they are. */
function recipeText(recipe: string): string {
  const [title] = recipe.split('\n', 1)
  const lines = blocksIn(recipe).blocks.flatMap(({ steps }) => steps.flatMap(({ command }) => command.split('\n')))
  return `${title}\n${lines.map(line => `  ${line}`.trimEnd()).join('\n')}\n`
}
