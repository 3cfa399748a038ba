// Bare fastify that takes a form and answers a small JSON object: no authentication, nothing checked, nothing stored.
// The parser is what @fastify/formbody is made of: the body as a string, through fast-querystring.

const fastify = require('fastify')
const { parse } = require(require.resolve('fast-querystring', { paths: [require.resolve('find-my-way')] }))

const app = fastify()
let last = 0
app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, done) => {
  done(null, parse(body))
})
app.post('/form', (request, reply) => {
  reply.send({ result: 'success', msg: '', id: request.body.title ? ++last : 0 })
})
app.listen({ host: '127.0.0.1', port: 0 }).then(url => process.stdout.write(`${JSON.stringify({ url })}\n`))
