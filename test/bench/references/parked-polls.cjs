// A bare node:http server that parks every GET and, on a POST, answers all of them with the same bytes.

const { createServer } = require('node:http')

const parked = []
const bytes = Buffer.from(process.argv[2] ?? '{}')
const headers = [
  'Content-Type',
  'application/json',
  'Content-Length',
  String(bytes.length),
  'Cache-Control',
  'no-store',
]

const server = createServer((request, response) => {
  if (request.method === 'GET') {
    parked.push(response)
    return
  }
  request.resume()
  request.on('end', () => {
    for (const one of parked.splice(0)) one.writeHead(200, headers).end(bytes)
    response.writeHead(200, headers).end(bytes)
  })
})
server.requestTimeout = 0
server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, () =>
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${server.address().port}`, pid: process.pid })}\n`),
)
