// Runs the bundles of dist/, each with its code cache.

const { readFileSync } = require('node:fs')
const { dirname, join } = require('node:path')
const codeCache = require('./code-cache.js')
const { leaveTerminal } = require('./terminal.js')

const folder = join(__dirname, '..', 'dist')
const running = new Map()

/** Runs the program of this name; it loads other bundles when it needs them. */
exports.launch = name => {
  // The daemon asks for it when it is ready: a run that only prints its version compiles next to nothing.
  globalThis[Symbol.for('natter.code-cache')] = codeCache
  process.once('exit', leaveTerminal)
  if (name === 'natter') codeCache.keepSoon()
  const bundle = run(`${name}.cjs`)
  if (bundle) return bundle
  process.stderr.write(`${name}: not built yet; run \`npm run build\` in ${dirname(__dirname)}\n`)
  process.exit(1)
}

/** Runs a program without writing caches: the build does that itself. */
exports.run = run

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
  const script = codeCache.compile(name, filename, source)
  const module = { exports: {} }
  const bundle = { script, module }
  running.set(name, bundle)
  script.runInThisContext()(module.exports, load, module, filename, folder)
  return bundle
}

function readOr(file) {
  try {
    return readFileSync(file)
  } catch {
    return undefined
  }
}
