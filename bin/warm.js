// Build step: runs a bundle for a moment, then writes down what V8 compiled for it.

const { renameSync, writeFileSync } = require('node:fs')
const { createServer, request } = require('node:http')
const { join } = require('node:path')
const { launch } = require('./launch.js')

const [name] = process.argv.splice(2, 1)
const file = join(__dirname, '..', 'dist', `${name}.cjs.cache`)
const write = process.stdout.write.bind(process.stdout)
let bundle

if (name === 'natterd') {
  // The ready line is the moment when everything a start needs has run; one request warms the way through the edge.
  process.stdout.write = text => {
    const { url, owner } = JSON.parse(text)
    const auth = `${owner.email}:${owner.api_key}`
    request(`${url}/api/v1/users/me`, { auth }, answer => answer.resume().on('end', finish)).end()
    return true
  }
  bundle = launch(name)
} else {
  process.stdout.write = () => true
  process.stderr.write = () => true
  bundle = launch(name)
  void callOften()
}

/** The calls that people make most, answered as a daemon would: a message sent, a record, a table, messages, events. */
async function callOften() {
  const message = {
    id: 1,
    type: 'stream',
    subject: 't',
    content: 'x',
    content_type: 'text/x-markdown',
    display_recipient: 'c',
    sender_full_name: 'A',
    is_me_message: false,
    timestamp: 1,
  }
  const event = id => ({ id, type: 'message', message: { ...message, id }, flags: [] })
  const lists = { streams: [{ stream_id: 1, name: 'c' }], messages: [message], events: [1, 2, 3].map(event) }
  const answer = { result: 'success', msg: '', id: 1, queue_id: 'q', last_event_id: -1, max_message_id: 0, ...lists }
  const server = createServer((_, response) => response.end(JSON.stringify(answer))).listen(0, '127.0.0.1')
  await new Promise(resolve => server.once('listening', resolve))
  const account = ['--site', `http://127.0.0.1:${server.address().port}`, '--user', 'a@example.com', '--api-key', 'k']
  for (const words of [
    ['users', 'me'],
    ['send', '#c>t', 'x'],
    ['channels', 'list'],
    ['messages', 'list'],
    ['tail', '--count', '3'],
  ])
    await bundle.exports.main([...words, ...account])
  finish()
}

function finish() {
  process.stdout.write = write
  writeFileSync(`${file}.tmp`, bundle.script.createCachedData())
  renameSync(`${file}.tmp`, file)
  process.exit(0)
}
