// Loaded into a daemon with NODE_OPTIONS=--import: a disk that reports EIO. NATTER_TEST_FAILING names a file; while it
// exists, its words say what fails: one of write, fdatasync and fsync, then the beginning of the names of the files concerned.
// A third word is the path of a pipe without a writer: to open it never ends, like a write to a disk that hangs.

import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { basename } from 'node:path'

const orders = process.env.NATTER_TEST_FAILING

function isBroken(call, fd) {
  if (!fs.existsSync(orders)) return false
  const [what, name, pipe] = fs.readFileSync(orders, 'utf8').split(' ')
  if (what !== call || !basename(fs.readlinkSync(`/proc/self/fd/${fd}`)).startsWith(name)) return false
  if (pipe) fs.open(pipe, () => {})
  return true
}

for (const call of ['write', 'fdatasync', 'fsync']) {
  const real = fs[call]
  fs[call] = (fd, ...rest) => {
    if (!isBroken(call, fd)) return real(fd, ...rest)
    const error = Object.assign(new Error(`EIO: i/o error, ${call}`), { code: 'EIO', errno: -5, syscall: call })
    setImmediate(rest.at(-1), error, 0)
  }
}
syncBuiltinESMExports()
