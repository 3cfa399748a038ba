// The long crash campaign: `npm run crash -- 500` kills the daemon 500 times. NATTER_SEED=… runs one again.

import { campaign } from './crash/campaign.ts'

const kills = Number(process.argv[2] ?? 300)
const perStore = 25
const first = Number(process.env.NATTER_SEED ?? Math.floor(Math.random() * 2 ** 32))

for (let done = 0, seed = first; done < kills; done += perStore, seed++) {
  const note = (text: string) => process.stderr.write(`seed ${seed}: ${text}\n`)
  const { writes, events, unknown } = await campaign({ kills: Math.min(perStore, kills - done), seed, note })
  console.log(
    `seed ${seed}: ${writes} writes, ${events} events, ${unknown} unanswered writes found done; all as it must be`,
  )
}
