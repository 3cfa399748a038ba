// JSON.parse of every line of a file, read in chunks.

const { openSync, readSync } = require('node:fs')

const fd = openSync(process.argv[2])
const chunk = Buffer.allocUnsafe(4 * 1024 * 1024)
let count = 0
let kept = 0
for (;;) {
  const length = kept + readSync(fd, chunk, kept, chunk.length - kept, null)
  if (length === kept) break
  let start = 0
  for (let end = chunk.indexOf(10); end !== -1 && end < length; end = chunk.indexOf(10, start)) {
    JSON.parse(chunk.toString('utf8', start, end))
    count++
    start = end + 1
  }
  chunk.copy(chunk, 0, start, length)
  kept = length - start
}
if (count === 0) throw new Error('no lines')
