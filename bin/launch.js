// Runs the bundles of dist/, each with its code cache. The build makes the caches of the programs. Where it could not run them, or
// made the caches with another version of node, the first start writes them for the next one.

const { readFileSync, renameSync, writeFileSync } = require('node:fs')
const { dirname, join } = require('node:path')
const { Script } = require('node:vm')
const { scriptOf } = require('./wrap.js')

const folder = join(__dirname, '..', 'dist')
const running = new Map()
/** Bundles that most starts need. */
const cached = ['natterd.cjs', 'natter.cjs', 'fastify.cjs']

/** Runs the program of this name; it loads other bundles when it needs them. */
exports.launch = name => {
  const bundle = run(`${name}.cjs`)
  if (bundle) return bundle
  process.stderr.write(`${name}: not built yet; run \`npm run build\` in ${dirname(__dirname)}\n`)
  process.exit(1)
}

/** Every bundle that runs, by its file name. */
exports.running = running

/** The build writes the caches itself. */
exports.options = { keepCaches: true }

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
  const own = `${filename}.${process.version}-${process.arch}.cache`
  const cachedData = readOr(own) ?? readOr(`${filename}.cache`)
  const script = new Script(scriptOf(source), { filename, ...(cachedData && { cachedData }) })
  // An empty cache is one that the build left out on purpose.
  const isMissing = cachedData === undefined || (script.cachedDataRejected && cachedData.length > 0)
  if (isMissing && exports.options.keepCaches && cached.includes(name)) keepCache(own, script)
  const module = { exports: {} }
  const bundle = { script, module }
  running.set(name, bundle)
  script.runInThisContext()(module.exports, load, module, filename, folder)
  return bundle
}

/** Writes the cache once the program has run for a while, or ends. Where dist/ cannot be written, every start compiles. */
function keepCache(file, script) {
  const timer = setTimeout(keep, 2000)
  timer.unref()
  process.once('exit', keep)
  function keep() {
    clearTimeout(timer)
    process.removeListener('exit', keep)
    try {
      writeFileSync(`${file}.${process.pid}.tmp`, script.createCachedData())
      renameSync(`${file}.${process.pid}.tmp`, file)
    } catch {}
  }
}

function readOr(file) {
  try {
    return readFileSync(file)
  } catch {
    return undefined
  }
}
