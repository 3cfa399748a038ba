// Build step: runs a program for a moment, then writes down what V8 compiled for each of its bundles.

const { renameSync, writeFileSync } = require('node:fs')
const { createServer, request } = require('node:http')
const { join } = require('node:path')
const { run, running } = require('./launch.js')

const [name] = process.argv.splice(2, 1)
const write = process.stdout.write.bind(process.stdout)
const saved = new Set()

if (name === 'natterd') {
  // The ready line is the moment when everything a start needs has run; one request warms the way through the edge.
  process.stdout.write = text => {
    const { url, owner } = JSON.parse(text)
    const auth = `${owner.email}:${owner.api_key}`
    const ask = (path, next) => request(url + path, { auth }, answer => answer.resume().on('end', next)).end()
    ask('/livez', () =>
      ask('/api/v1/users/me', () => {
        // What comes after belongs to the bundles that are loaded late; every start would pay for it.
        save(`${name}.cjs`)
        ask('/health', finish)
      }),
    )
    return true
  }
  run(`${name}.cjs`)
} else {
  process.stdout.write = () => true
  process.stderr.write = () => true
  run(`${name}.cjs`)
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
    await running.get(`${name}.cjs`).module.exports.main([...words, ...account])
  finish()
}

function finish() {
  process.stdout.write = write
  for (const bundle of running.keys()) if (!saved.has(bundle)) save(bundle)
  process.exit(0)
}

function save(bundle) {
  saved.add(bundle)
  const file = join(__dirname, '..', 'dist', `${bundle}.cache`)
  writeFileSync(`${file}.tmp`, running.get(bundle).script.createCachedData())
  renameSync(`${file}.tmp`, file)
}
