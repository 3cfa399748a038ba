// Bare fastify that answers with the bytes of a file: no authentication, nothing looked up.

const { readFileSync } = require('node:fs')
const fastify = require('fastify')

const bytes = readFileSync(process.argv[2])
const app = fastify()
app.get('/file', (_request, reply) => {
  reply.type('application/json; charset=utf-8').send(bytes)
})
app.listen({ host: '127.0.0.1', port: 0 }).then(url => process.stdout.write(`${JSON.stringify({ url })}\n`))
