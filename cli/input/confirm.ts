// Asks before something is destroyed. A script has to say --yes.

import { exitCodes, Failure, usage } from '../base/failure.ts'
import type { Globals } from '../base/globals.ts'
import { askText } from './prompt.ts'

export async function confirm(question: string, { yes }: Pick<Globals, 'yes'>): Promise<void> {
  if (yes) return
  const answer = process.stderr.isTTY ? await askText(`${question} [y/N] `) : undefined
  if (answer === undefined) throw usage(question, 'Add --yes to do it without being asked.')
  if (!/^y(es)?$/i.test(answer)) throw new Failure(exitCodes.refused, 'nothing was changed', { code: 'CANCELLED' })
}
