// Runs the bundles of dist/, each with the code cache that the build made for it, if any. V8 rejects a cache that does not
// fit this node.

const { readFileSync } = require('node:fs')
const { dirname, join } = require('node:path')
const { Script } = require('node:vm')

const folder = join(__dirname, '..', 'dist')
const running = new Map()

/** Runs the program of this name; it loads other bundles when it needs them. */
exports.launch = name => {
  const bundle = run(`${name}.cjs`)
  if (bundle) return bundle
  process.stderr.write(`${name}: not built yet; run \`npm run build\` in ${dirname(__dirname)}\n`)
  process.exit(1)
}

/** Every bundle that runs, by its file name. */
exports.running = running

/** What bundles call `require`: for another bundle, a package or a part of node. */
function load(id) {
  if (!id.startsWith('./')) return require(id)
  const name = id.slice(2)
  const bundle = running.get(name) ?? run(name)
  if (!bundle) throw new Error(`${join(folder, name)} cannot be read`)
  return bundle.module.exports
}

function run(name) {
  const filename = join(folder, name)
  const source = readOr(filename)
  if (source === undefined) return undefined
  const cachedData = readOr(`${filename}.cache`)
  const script = new Script(wrapped(source), { filename, ...(cachedData && { cachedData }) })
  const module = { exports: {} }
  const bundle = { script, module }
  running.set(name, bundle)
  script.runInThisContext()(module.exports, load, module, filename, folder)
  return bundle
}

/** The programs are ASCII and wrapped by the build: a copy of texts of their size would stay in memory. */
function wrapped(source) {
  const isWrapped = source[0] === 40
  return isWrapped
    ? source.latin1Slice()
    : `(function (exports, require, module, __filename, __dirname) {${source.toString()}\n})`
}

function readOr(file) {
  try {
    return readFileSync(file)
  } catch {
    return undefined
  }
}
