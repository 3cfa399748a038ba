// Runs the bundles of dist/, each with its code cache.

const { closeSync, fstatSync, openSync, readFileSync } = require('node:fs')
const { dirname, join } = require('node:path')
const codeCache = require('./code-cache.js')

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

/**
 * When node ends, it sets the terminal to the state in which node found it. A job that a shell started in the background found
 * it without echo, since the shell was reading a line, and would leave the shell without echo. Node leaves out a file descriptor
 * that was opened again.
 */
function leaveTerminal() {
  for (const descriptor of [0, 1, 2])
    try {
      // Only a terminal loads node:tty, which takes longer than all the rest.
      if (!fstatSync(descriptor).isCharacterDevice() || !require('node:tty').isatty(descriptor)) continue
      closeSync(openSync('/dev/tty', 'r+'))
      closeSync(descriptor)
      // Gets the number that is free now.
      openSync('/dev/tty', 'r+')
    } catch {
      // There is no /dev/tty: the terminal is not that of a shell with jobs.
    }
}

function readOr(file) {
  try {
    return readFileSync(file)
  } catch {
    return undefined
  }
}
