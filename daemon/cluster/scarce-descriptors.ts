// Repeats steps for which no file descriptor is free. Descriptors are free again when connections end, and a daemon of a cluster that
// gave up instead would take its copy of everything with it.

import { setTimeout as sleep } from 'node:timers/promises'
import { warn } from '../local/warnings.ts'

/** Milliseconds between two attempts. */
const pause = 500

/** Repeats the step while it fails for want of a file descriptor, unless it is no longer wanted. */
export async function untilDescriptorsAreFree(step: () => Promise<void>, isOver: () => boolean): Promise<void> {
  for (let tried = 1; ; tried++)
    try {
      return await step()
    } catch (error) {
      const { code = '', message } = error as NodeJS.ErrnoException
      if (!['EMFILE', 'ENFILE'].includes(code) || isOver()) throw error
      if (tried === 1) warn(`no file descriptor is free, and this daemon waits for one: ${message}`)
      await sleep(pause)
    }
}
