// Loaded before a program: no port can be opened, as in a sandbox.

const { Server } = require('node:net')
const { listen } = Server.prototype

Server.prototype.listen = function (...args) {
  const [where] = args
  const isPort = typeof where === 'number' || (typeof where === 'object' && where !== null && 'port' in where)
  if (!isPort) return listen.apply(this, args)
  process.nextTick(() => this.emit('error', Object.assign(new Error('listen EPERM'), { code: 'EPERM' })))
  return this
}
