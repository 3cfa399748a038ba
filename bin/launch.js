// Runs a bundle of dist/ with the code cache that the build made for it. V8 rejects a cache that does not fit this node.

const { readFileSync } = require('node:fs')
const { createRequire } = require('node:module')
const { dirname, join } = require('node:path')
const { Script } = require('node:vm')

exports.launch = name => {
  const filename = join(__dirname, '..', 'dist', `${name}.cjs`)
  // ASCII throughout (esbuild sees to it), so one byte a character.
  const source = readOr(filename)
  if (source === undefined) {
    process.stderr.write(`${name}: not built yet; run \`npm run build\` in ${dirname(__dirname)}\n`)
    process.exit(1)
  }
  const cachedData = readOr(`${filename}.cache`)
  const script = new Script(source.latin1Slice(), { filename, ...(cachedData && { cachedData }) })
  const module = { exports: {} }
  script.runInThisContext()(module.exports, createRequire(filename), module, filename, dirname(filename))
  return { script, exports: module.exports }
}

function readOr(file) {
  try {
    return readFileSync(file)
  } catch {
    return undefined
  }
}
