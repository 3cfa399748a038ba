// In the process of one campaign: runs it and reports to the runner.

import { type Campaign, Failure } from '../campaign.ts'
import type { Order, Report } from './report.ts'

/** Runs the campaign as the runner ordered, and ends the process. */
export async function report(campaign: Campaign): Promise<void> {
  // The runner is gone, and only it ends the daemons of this group.
  process.on('disconnect', () => process.kill(-process.pid, 'SIGKILL'))
  await send(await resultOf(campaign, JSON.parse(process.argv[2]!) as Order))
  // A campaign that failed can leave connections and timers behind.
  process.exit(0)
}

async function resultOf(campaign: Campaign, { count, seed, minutes }: Order): Promise<Report> {
  const deadline = minutes === undefined ? Number.POSITIVE_INFINITY : performance.now() + minutes * 60_000
  const note = (text: string) => void send({ kind: 'note', text })
  const progress = (done: number) => void send({ kind: 'progress', done })
  try {
    return { kind: 'passed', ...(await campaign.run({ count, seed, deadline, note, progress })) }
  } catch (error) {
    const { seed: blamed, count: needed } = error instanceof Failure ? error : { seed, count }
    const message = error instanceof Failure ? error.message : ((error as Error).stack ?? String(error))
    return { kind: 'failed', message, again: `--seed ${blamed} --count ${needed}` }
  }
}

function send(news: Report): Promise<void> {
  return new Promise((resolve, reject) =>
    process.send!(news, (error: Error | null) => (error ? reject(error) : resolve())),
  )
}
