// A bare node:http server with queues in memory: a GET waits on its queue, a POST tells all of them.
// Nothing is checked, nothing is stored; the bytes of an event are those it was started with.

const { createServer } = require('node:http')

const [, , before, after] = process.argv
const queues = new Map()

function answer(response, events) {
  const bytes = Buffer.from(`{"events":[${events.map(({ id, text }) => `{"id":${id},${text}`).join(',')}]}`)
  response.writeHead(200, ['Content-Type', 'application/json', 'Content-Length', String(bytes.length)]).end(bytes)
}

function queueOf(name) {
  let queue = queues.get(name)
  if (!queue) {
    queue = { next: 0, events: [], waiting: undefined }
    queues.set(name, queue)
  }
  return queue
}

const server = createServer((request, response) => {
  if (request.method === 'GET') {
    const { searchParams } = new URL(request.url, 'http://localhost')
    const queue = queueOf(searchParams.get('queue_id'))
    const last = Number(searchParams.get('last_event_id'))
    queue.events = queue.events.filter(({ id }) => id > last)
    if (queue.events.length > 0) answer(response, queue.events)
    else queue.waiting = response
    return
  }
  let body = ''
  request.setEncoding('utf8').on('data', chunk => {
    body += chunk
  })
  request.on('end', () => {
    const text = `${before}send ${new URLSearchParams(body).get('tag')}!${after}`
    for (const queue of queues.values()) {
      queue.events.push({ id: queue.next++, text })
      if (queue.waiting) answer(queue.waiting, queue.events)
      queue.waiting = undefined
    }
    answer(response, [])
  })
})
server.requestTimeout = 0
server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, () =>
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${server.address().port}` })}\n`),
)
