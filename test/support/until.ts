// Waits for what must come about, and says what did not.

import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Asks again and again, less often the longer it takes: asking costs the processor time that others need. Generous,
 * because a loaded machine is slow and a passing test does not wait.
 */
export async function until<T>(holds: () => T | Promise<T>, seconds = 180): Promise<Exclude<T, Falsy>> {
  const end = performance.now() + seconds * 1000
  for (let pause = 10; ; pause = Math.min(pause * 1.2, 100)) {
    const found = await holds()
    if (found) return found as Exclude<T, Falsy>
    assert.ok(performance.now() < end, `not within ${seconds} seconds: ${holds}`)
    await sleep(pause)
  }
}

type Falsy = false | undefined | null | 0 | ''
