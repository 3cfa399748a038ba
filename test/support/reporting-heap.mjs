// Loaded into a daemon with NODE_OPTIONS=--import: on SIGWINCH it collects its garbage and writes the bytes that are left in
// use into the file that NATTER_TEST_HEAP names.

import { renameSync, writeFileSync } from 'node:fs'
import { setImmediate as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc')
// V8 refuses code caches of other flags: natterd would replace the cache in dist/, and every other start would refuse that one.
setFlagsFromString('--no-expose-gc')
const file = process.env.NATTER_TEST_HEAP

process.on('SIGWINCH', async () => {
  // More than once: what one round finds dead can be what keeps others alive, in another turn of the loop.
  for (let round = 0; round < 5; round++) {
    collectGarbage()
    await turn()
  }
  const { heapUsed, external } = process.memoryUsage()
  writeFileSync(`${file}.new`, String(heapUsed + external))
  renameSync(`${file}.new`, file)
})
