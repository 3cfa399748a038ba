// Code caches: what V8 has compiled of a bundle. The build makes them, for its own version of node. A start that they do not fit, because
// node is of another version or V8 has other flags, writes caches of its own into the user's cache folder, for the next start.

const {
  existsSync,
  statSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} = require('node:fs')
const { dirname, isAbsolute, join } = require('node:path')
const { Script } = require('node:vm')
const { digestOf, scriptOf } = require('./wrap.js')

const folder = join(cacheFolder(process.env), 'natter')
/** Bundles that most starts need, and that of `natter mcp`, which clients start again and again. */
const cached = ['natterd.cjs', 'natter.cjs', 'fastify.cjs', 'mcp.cjs']
/** Later than the first answers, which would wait for it. */
const delayMs = 2000
/** Caches that are older belong to versions that may be gone; one that is still used is written again. */
const keptMs = 30 * 24 * 60 * 60 * 1000

exports.cached = cached

/** Where the cache of each bundle that runs came from; undefined if there was none that fits. */
const origins = new Map()
/** Bundles that run without a cache, by the file that is to hold it. */
const missing = new Map()
let isKeeping = false
let timer

/** The script of a bundle, compiled with its cache where there is one. */
exports.compile = (name, filename, source) => {
  const own = cached.includes(name) && ownFile(name, source)
  const found = readFirst([...(own && isTrusted() ? [own] : []), `${filename}.cache`])
  const script = new Script(scriptOf(source), { filename, ...(found && { cachedData: found.bytes }) })
  const fits = found !== undefined && !script.cachedDataRejected
  origins.set(name, fits ? found.file : undefined)
  // An empty cache is one that the build left out on purpose.
  const isLeftOut = found?.bytes.length === 0
  if (own && !fits && !isLeftOut) missing.set(own, script)
  if (isKeeping) exports.keepSoon()
  return script
}

/** V8 checks its own version and flags, but of the text only the length. */
function ownFile(name, source) {
  return join(folder, `${name}.${process.version}-${process.arch}.${digestOf(source)}.cache`)
}

/** Writes the caches that are missing once the program has run for a while, or ends. */
exports.keepSoon = () => {
  isKeeping = true
  if (missing.size === 0 || timer) return
  timer = setTimeout(keep, delayMs)
  timer.unref()
  process.once('exit', keep)
}

/** For `natter doctor`: where the cache of a bundle that runs came from, or why it has none. */
exports.explain = name => {
  const file = origins.get(name)
  if (file !== undefined) return { file }
  return { folder, problem: problemOf(dirname(folder)) ?? problemOf(folder) }
}

/** Never delays or fails a start: without a cache, every start compiles. */
function keep() {
  clearTimeout(timer)
  timer = undefined
  process.removeListener('exit', keep)
  try {
    for (const path of [dirname(folder), folder]) makeFolder(path)
    if (!isTrusted()) return
    for (const [file, script] of missing) {
      writeFileSync(`${file}.${process.pid}.tmp`, script.createCachedData(), { mode: 0o600 })
      renameSync(`${file}.${process.pid}.tmp`, file)
    }
    removeOld()
  } catch {}
  missing.clear()
}

/** Only below a folder of this user: with sudo, the home folder is that of another. */
function makeFolder(path) {
  const parent = statSync(dirname(path))
  if (process.getuid === undefined || parent.uid === process.getuid()) mkdirSync(path, { recursive: true, mode: 0o700 })
}

function removeOld() {
  for (const name of readdirSync(folder)) {
    const file = join(folder, name)
    if (name.includes('.cache') && Date.now() - statSync(file).mtimeMs > keptMs) rmSync(file)
  }
}

/** Compiled code does what it says: it is used only from where no other user could have put it. */
function isTrusted() {
  return existsSync(folder) && problemOf(folder) === undefined && problemOf(dirname(folder)) === undefined
}

/** Why other users could have written to a folder; undefined if they could not, or if there is none. */
function problemOf(path) {
  let stats
  try {
    stats = statSync(path, { throwIfNoEntry: false })
  } catch (error) {
    return error.message
  }
  if (!stats) return undefined
  if (!stats.isDirectory()) return `${path} is not a folder`
  if (process.getuid === undefined) return undefined
  if (stats.uid !== process.getuid()) return `${path} belongs to another user`
  return stats.mode & 0o022 ? `other users can change ${path}` : undefined
}

function cacheFolder(env) {
  if (process.platform === 'win32' && env.LOCALAPPDATA) return env.LOCALAPPDATA
  if (env.XDG_CACHE_HOME && isAbsolute(env.XDG_CACHE_HOME)) return env.XDG_CACHE_HOME
  return join(env.HOME || homeOf(), ...(process.platform === 'darwin' ? ['Library', 'Caches'] : ['.cache']))
}

/** Containers run as users that have no home. */
function homeOf() {
  try {
    return require('node:os').homedir()
  } catch {
    return '/nonexistent'
  }
}

function readFirst(files) {
  for (const file of files)
    try {
      return { file, bytes: readFileSync(file) }
    } catch {}
  return undefined
}
