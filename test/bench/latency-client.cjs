// Keeps a poll waiting on each of many queues, sends at a steady pace, and measures from the answer of a send until its
// event is there. Raw sockets, as in load-client.cjs. Reads one task line, says one result line.

const { headLines, open } = require('./raw-connection.cjs')

const answeredAt = []
const heardAt = []
const waits = []

async function main({ url, polls, sends, perSecond, post, headers }) {
  const head = headLines(url, headers)
  const ask = (socket, path) => socket.write(`GET ${path} HTTP/1.1\r\n${head}\r\n`)
  for (let i = 0; i < polls.length; i += 200)
    await Promise.all(
      polls.slice(i, i + 200).map(async path => {
        const hear = (body, socket) => {
          const now = performance.now()
          let last = -1
          for (const [, id] of body.matchAll(/{"id":(\d+),"type":"(?:message|heartbeat)"/g)) last = Number(id)
          for (const [, tag] of body.matchAll(/send (\d+)!/g)) heard(Number(tag), now)
          ask(socket, path.replace('LAST', String(last)))
        }
        ask(await open(url, hear), path.replace('LAST', '-1'))
      }),
    )
  await sleep(1000)
  const expected = sends * polls.length
  // Some in turn: a send that takes long holds up no other.
  const free = []
  for (let i = 0; i < 8; i++) free.push(await open(url, (_body, socket) => answered(socket)))
  const answered = socket => {
    answeredAt[socket.tag] = performance.now()
    for (const at of heardAt[socket.tag] ?? []) waits.push(Math.max(0, at - answeredAt[socket.tag]))
    heardAt[socket.tag] = undefined
    free.push(socket)
  }
  const began = performance.now()
  for (let tag = 0; tag < sends; tag++) {
    const wait = began + (tag * 1000) / perSecond - performance.now()
    if (wait > 0) await sleep(wait)
    while (free.length === 0) await sleep(1)
    const socket = free.shift()
    socket.tag = tag
    const body = post.body.replace('TAG', String(tag))
    socket.write(
      `POST ${post.path} HTTP/1.1\r\n${head}Content-Type: application/x-www-form-urlencoded\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    )
  }
  const until = performance.now() + 20_000
  while (waits.length < expected && performance.now() < until) await sleep(50)
  if (waits.length !== expected) throw new Error(`${waits.length} of ${expected} events came`)
  process.stdout.write(`${JSON.stringify({ waits })}\n`, () => process.exit(0))
}

function heard(tag, now) {
  if (answeredAt[tag] !== undefined) waits.push(now - answeredAt[tag])
  else {
    heardAt[tag] ??= []
    heardAt[tag].push(now)
  }
}

const sleep = ms => new Promise(resolve => setTimeout(resolve, ms))

require('node:readline')
  .createInterface({ input: process.stdin })
  .once('line', task =>
    main(JSON.parse(task)).catch(error => {
      process.stderr.write(`${error.stack}\n`)
      process.exit(1)
    }),
  )
