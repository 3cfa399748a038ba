// Loaded into a daemon with NODE_OPTIONS=--import: on SIGWINCH it collects its garbage and writes the bytes that are left in
// use into the file that NATTER_TEST_HEAP names.

import { renameSync, writeFileSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc')
const file = process.env.NATTER_TEST_HEAP

process.on('SIGWINCH', () => {
  collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  writeFileSync(`${file}.new`, String(heapUsed + external))
  renameSync(`${file}.new`, file)
})
