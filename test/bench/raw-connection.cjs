// A connection without a client library around it, which would be most of the work: one answer at a time.

const { connect } = require('node:net')

/** Calls back with the body of every answer, and the socket to ask on again. */
exports.open = (url, onAnswer) =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url)
    const socket = connect(Number(port), hostname, () => resolve(socket)).setNoDelay(true)
    socket.on('error', reject)
    let pending = ''
    socket.on('data', chunk => {
      pending = pending === '' ? chunk.latin1Slice() : pending + chunk.latin1Slice()
      const end = pending.indexOf('\r\n\r\n')
      if (end < 0) return
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(pending)[1])
      if (pending.length < end + 4 + length) return
      const body = pending.slice(end + 4)
      if (!pending.startsWith('HTTP/1.1 200 ')) throw new Error(pending)
      pending = ''
      onAnswer(body, socket)
    })
  })

/** The lines of headers that every request has. */
exports.headLines = (url, headers) =>
  Object.entries({ Host: new URL(url).host, ...headers })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')
