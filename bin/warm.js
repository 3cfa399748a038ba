// Build step: runs a bundle for a moment, then writes down what V8 compiled for it.

const { renameSync, writeFileSync } = require('node:fs')
const { request } = require('node:http')
const { join } = require('node:path')
const { launch } = require('./launch.js')

const [name] = process.argv.splice(2, 1)
const file = join(__dirname, '..', 'dist', `${name}.cjs.cache`)
const write = process.stdout.write.bind(process.stdout)
let script

if (name === 'natterd') {
  // The ready line is the moment when everything a start needs has run; one request warms the way through the edge.
  process.stdout.write = text => {
    const { url, owner } = JSON.parse(text)
    const auth = `${owner.email}:${owner.api_key}`
    request(`${url}/api/v1/users/me`, { auth }, answer => answer.resume().on('end', finish)).end()
    return true
  }
} else {
  process.stdout.write = () => true
  process.on('exit', finish)
}
script = launch(name)

function finish() {
  process.stdout.write = write
  writeFileSync(`${file}.tmp`, script.createCachedData())
  renameSync(`${file}.tmp`, file)
  process.exit(0)
}
