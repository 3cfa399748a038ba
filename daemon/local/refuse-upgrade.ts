// Answers that change to another protocol, such as WebSocket. Node says nothing of them where there is no listener, and the call would
// never end.

import type { ClientRequest } from 'node:http'

export function refuseUpgrade(outgoing: ClientRequest, fail: (error: Error) => void): void {
  outgoing.on('upgrade', (_answer, socket) => {
    socket.destroy()
    fail(new Error('it changes to another protocol'))
  })
}
