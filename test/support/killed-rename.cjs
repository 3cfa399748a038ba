// Loaded into a process by --require: ends it as SIGKILL does, before a rename. NATTER_TEST_KILLED_AT says before which one: the beginning
// of the name of the folder that it renames into, and its number among them.

const fs = require('node:fs')
const { basename, dirname } = require('node:path')

const [folder, number] = process.env.NATTER_TEST_KILLED_AT.split(' ')
const { rename } = fs.promises
let renames = 0
fs.promises.rename = async (from, to) => {
  if (basename(dirname(to)).startsWith(folder) && ++renames === Number(number)) process.kill(process.pid, 'SIGKILL')
  await rename(from, to)
}
