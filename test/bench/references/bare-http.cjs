// What Node itself needs to answer: a server of node:http and nothing else.

const { createServer } = require('node:http')

const server = createServer((_request, response) => {
  response.setHeader('Content-Type', 'application/json')
  response.end('{"ok":true}')
})
server.listen(0, '127.0.0.1', () =>
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${server.address().port}` })}\n`),
)
