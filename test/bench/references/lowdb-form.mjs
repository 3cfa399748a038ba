// A server that keeps what it is sent with lowdb, as its documentation shows it: the whole file is written for every request.

import { createServer } from 'node:http'
import { JSONFilePreset } from 'lowdb/node'

const db = await JSONFilePreset(process.argv[2], { messages: [] })
const server = createServer((request, response) => {
  let body = ''
  request.setEncoding('utf8').on('data', chunk => {
    body += chunk
  })
  request.on('end', async () => {
    const { content } = Object.fromEntries(new URLSearchParams(body))
    const message = { id: db.data.messages.length, content }
    await db.update(({ messages }) => messages.push(message))
    const answer = JSON.stringify({ result: 'success', id: message.id })
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(answer) })
    response.end(answer)
  })
})
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${server.address().port}` })}\n`)
})
