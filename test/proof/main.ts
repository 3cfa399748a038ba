// Runs campaigns: `npm run prove` lists them, `npm run prove -- http` runs one in its long form, `-- all` runs them all.
// `--minutes N` ends each after so long, `--count N` after so many, `--seed N` repeats one.

import { readdirSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { type Campaign, Failure, randomSeed } from './campaign.ts'

const { values, positionals } = parseArgs({
  options: { minutes: { type: 'string' }, count: { type: 'string' }, seed: { type: 'string' } },
  allowPositionals: true,
})

/** One file beside this one for each. */
const names = readdirSync(import.meta.dirname)
  .filter(file => file.endsWith('.ts') && !file.endsWith('.test.ts') && !['main.ts', 'campaign.ts'].includes(file))
  .map(file => file.slice(0, -'.ts'.length))
  .sort()

if (positionals.length === 0) for (const name of names) console.log(`${name.padEnd(10)} ${(await load(name)).about}`)
for (const name of positionals.includes('all') ? names : positionals) await prove(name)

async function prove(name: string): Promise<void> {
  if (!names.includes(name)) throw new Error(`there is no campaign ${name}; choose one of ${names.join(', ')}`)
  const { run, unit, long } = await load(name)
  const seed = values.seed === undefined ? randomSeed() : Number(values.seed)
  const count = values.count === undefined ? long : Number(values.count)
  const begin = performance.now()
  const deadline = values.minutes === undefined ? Number.POSITIVE_INFINITY : begin + Number(values.minutes) * 60_000
  const note = (text: string) => process.stderr.write(`${name}: ${text}\n`)
  note(`${count} ${unit}, seed ${seed}`)
  try {
    const { done, summary } = await run({ count, seed, deadline, note })
    console.log(
      `${name}: ${done} ${unit} in ${((performance.now() - begin) / 1000).toFixed(1)} s, seed ${seed}; ${summary}`,
    )
  } catch (error) {
    process.exitCode = 1
    const again = error instanceof Failure ? `--seed ${error.seed} --count 1` : `--seed ${seed} --count ${count}`
    console.log(`${name}: FAILED, seed ${seed}\n${(error as Error).stack}\nRepeat: npm run prove -- ${name} ${again}`)
  }
}

async function load(name: string): Promise<Campaign> {
  return ((await import(`./${name}.ts`)) as { campaign: Campaign }).campaign
}
