// `natter help cheats`: the commands of the cookbook. What they print is in docs/cookbook.md, where a test runs them.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../../base/version.ts'

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
  const [, block = ''] = /^```console\n(.*?)^```$/ms.exec(recipe) ?? []
  // `$ ` begins a command, `> ` continues it, and other lines are what it prints.
  const lines = block.split('\n').flatMap(line => /^[$>] (.*)$/.exec(line)?.[1] ?? [])
  return `${title}\n${lines.map(line => foldLine(`  ${line}`.trimEnd())).join('\n')}\n`
}

const columns = 80

/** Continues a line that is too long on the next one, where the shell allows it: at a space outside of quotes. */
function foldLine(line: string): string {
  if (line.length <= columns) return line
  let quote = ''
  let last = 0
  for (let at = line.search(/\S/); at <= columns - 2; at++) {
    const character = line[at]!
    if (quote === '' && character === ' ') last = at
    if (quote === '' ? /["']/.test(character) : character === quote) quote = quote === '' ? character : ''
  }
  if (last === 0) return line
  return `${line.slice(0, last)} \\\n${foldLine(`      ${line.slice(last + 1)}`)}`
}
