// The main script of the single executable: node with everything that dist/ holds inside it, as assets. Called natterd, by a link
// for instance, it is the daemon; otherwise it is natter.

const { createRequire } = require('node:module')
const { basename, dirname, join } = require('node:path')
const { getRawAsset } = require('node:sea')
const { Script } = require('node:vm')
const { leaveTerminal } = require('./terminal.js')
const { scriptOf } = require('./wrap.js')

const folder = dirname(process.execPath)
const fromDisk = createRequire(join(folder, 'natter.cjs'))
const loaded = new Map()

/** The bytes of an asset; undefined if there is none. They are part of the executable: not to be changed. */
function readAsset(name) {
  try {
    return Buffer.from(getRawAsset(name))
  } catch {
    return undefined
  }
}

/** Bundles and the packages that they load late are assets; what is left is part of node. */
function load(name) {
  const asset = name.startsWith('./') ? name.slice(2) : `${name}.cjs`
  if (loaded.has(asset)) return loaded.get(asset).exports
  const source = readAsset(asset)
  return source ? run(asset, source).exports : fromDisk(name)
}

function run(asset, source) {
  const filename = join(folder, asset)
  const cachedData = readAsset(`${asset}.cache`)
  const script = new Script(scriptOf(source), { filename, ...(cachedData && { cachedData }) })
  const module = { exports: {} }
  loaded.set(asset, module)
  script.runInThisContext()(module.exports, load, module, filename, folder)
  return module
}

// What asks for files of the package asks here first.
globalThis[Symbol.for('natter.asset')] = readAsset

process.once('exit', leaveTerminal)
const isDaemon = /^natterd(\.exe)?$/.test(basename(process.argv0))
const [, , noun, verb] = process.argv
if (noun === 'daemon' && verb === 'run') process.argv.splice(2, 2)
load(isDaemon || (noun === 'daemon' && verb === 'run') ? './natterd.cjs' : './natter.cjs')
