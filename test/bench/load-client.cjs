// Keeps a number of connections busy with one request each and counts the answers. Raw sockets: the client shares the
// machine with the server it measures, and a full HTTP client needs as much of it as the server does.

const { connect } = require('node:net')

const { url, method, headers, body, connections, seconds, rest, quantiles } = JSON.parse(process.argv[2])
const { hostname, port, pathname } = new URL(url)
const lines = Object.entries({ Host: `${hostname}:${port}`, ...headers, 'Content-Length': Buffer.byteLength(body) })
const message = Buffer.from(
  `${method} ${pathname} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`,
)

const latencies = []
const end = performance.now() + seconds * 1000
let open = connections
const began = performance.now()

for (let i = 0; i < connections; i++) {
  const socket = connect(Number(port), hostname).setNoDelay(true)
  let pending = ''
  let sent = 0
  const send = () => {
    sent = performance.now()
    socket.write(message)
  }
  socket.on('connect', send)
  socket.on('error', fail)
  socket.on('data', chunk => {
    pending = pending === '' ? chunk.latin1Slice() : pending + chunk.latin1Slice()
    if (!isWhole(pending)) return
    if (!/^HTTP\/1\.1 20[01] /.test(pending)) fail(new Error(pending))
    pending = ''
    const now = performance.now()
    latencies.push(now - sent)
    if (now < end) return rest ? setTimeout(send, rest) : send()
    socket.destroy()
    if (--open === 0) report(now)
  })
}

function isWhole(answer) {
  const headerEnd = answer.indexOf('\r\n\r\n')
  if (headerEnd < 0) return false
  const length = /\r\ncontent-length: (\d+)/i.exec(answer)
  if (!length) fail(new Error(`an answer without a length: ${answer}`))
  return answer.length >= headerEnd + 4 + Number(length[1])
}

function report(now) {
  const sorted = Float64Array.from(latencies).sort()
  const at = q => sorted[Math.floor((sorted.length - 1) * q)]
  const perSecond = latencies.length / ((now - began) / 1000)
  const found = (quantiles ?? []).map(at)
  process.stdout.write(
    JSON.stringify({
      answers: latencies.length,
      perSecond,
      p50: at(0.5),
      p99: at(0.99),
      longest: at(1),
      quantiles: found,
    }),
  )
}

function fail(error) {
  process.stderr.write(`${error.message}\n`)
  process.exit(1)
}
