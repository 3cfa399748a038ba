// Parks a poll on each of many connections, sends one message, and measures until everyone has heard of it.
// Raw sockets, as in load-client.cjs. Speaks with its parent in lines: says `parked`, waits for one, says the result.

const { headLines, open } = require('./raw-connection.cjs')

let waiting = 0
let heard = () => {}
let sample = ''

/** `urls`: several daemons of a cluster, which the polls are spread over. */
async function main({ url, urls = [url], polls, trigger, rounds, headers }) {
  const head = headLines(url, headers)
  const get = path => Buffer.from(`GET ${path} HTTP/1.1\r\n${head}\r\n`)
  const post = Buffer.from(
    `POST ${trigger.path} HTTP/1.1\r\n${head}Content-Type: application/x-www-form-urlencoded\r\nContent-Length: ${Buffer.byteLength(trigger.body)}\r\n\r\n${trigger.body}`,
  )
  const last = polls.map(() => -1)
  const sockets = []
  for (let i = 0; i < polls.length; i += 200)
    sockets.push(
      ...(await Promise.all(
        polls.slice(i, i + 200).map((_, n) =>
          open(urls[(i + n) % urls.length], body => {
            sample = body
            last[i + n] = Number(/"id":(\d+)/.exec(body)?.[1] ?? -1)
            if (--waiting === 0) heard()
          }),
        ),
      )),
    )
  const sender = await open(url, () => {})
  const times = []
  let isSaid = false
  for (let round = 0; round < rounds; round++) {
    waiting = polls.length
    for (const [i, socket] of sockets.entries()) {
      socket.write(get(polls[i].replace('LAST', String(last[i]))))
      // Not all at once: what is measured is the answer, not the crowd at the door.
      if (i % 500 === 499) await sleep(5)
    }
    await sleep(300 + polls.length / 8)
    if (!isSaid) {
      isSaid = true
      process.stdout.write('parked\n')
      await said()
    }
    const all = new Promise(resolve => {
      heard = resolve
    })
    const began = performance.now()
    sender.write(post)
    // A bare server parks what arrives after the message for ever. The message is sent again, and the round does not count.
    let isLate = false
    const again = setInterval(() => {
      isLate = true
      sender.write(post)
    }, answerTimeout)
    await all
    clearInterval(again)
    if (isLate) round--
    else times.push(performance.now() - began)
  }
  process.stdout.write(`${JSON.stringify({ times: times.slice(1), sample })}\n`, () => process.exit(0))
}

/** Milliseconds; longer than any answer takes that is on its way. */
const answerTimeout = 10_000

const sleep = ms => new Promise(resolve => setTimeout(resolve, ms))

const lines = require('node:readline').createInterface({ input: process.stdin })[Symbol.asyncIterator]()
const said = async () => (await lines.next()).value

said()
  .then(task => main(JSON.parse(task)))
  .catch(error => {
    process.stderr.write(`${error.stack}\n`)
    process.exit(1)
  })
