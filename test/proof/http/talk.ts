// Holds one conversation with a server in this process, and tells what came back.

import { connect } from 'node:net'
import type { Conversation } from './conversation.ts'

export interface Heard {
  /** Everything the server sent, without what differs from one run to the next. */
  readonly text: string
  readonly closed: boolean
  /** The server closed the connection while bytes were on their way to it: TCP may drop what it had sent. */
  readonly reset: boolean
  readonly answers: number
}

export interface Listening {
  readonly port: number
  /** Resolves when nothing waits for the disk. */
  settled(): Promise<void>
}

/** Turns of the event loop without news, after which a server in this process has nothing more to say. */
const quietTurns = 30

export interface Manner {
  /** Milliseconds of silence to wait for in addition. */
  readonly silence?: number
  /** Whether each piece is written when there is nothing more to hear about the ones before. */
  readonly isCalm?: boolean
}

export async function hold(
  { port, settled }: Listening,
  { pieces }: Conversation,
  { silence = 0, isCalm = false }: Manner = {},
): Promise<Heard> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true })
  const chunks: Buffer[] = []
  let news = 0
  let closed = false
  let reset = false
  socket.on('data', chunk => {
    chunks.push(chunk)
    news++
  })
  socket.on('error', () => {
    reset = true
  })
  socket.on('end', () => socket.end())
  socket.on('close', () => {
    closed = true
  })
  await new Promise(resolve => socket.once('connect', resolve).once('close', resolve))
  const moved = () => news + socket.bytesWritten - socket.writableLength
  const fallQuiet = async () => {
    for (let n = 0, seen = -1; n < quietTurns && !closed; n++) {
      if (seen !== moved()) n = 0
      seen = moved()
      await turn()
    }
  }
  const hearAll = async () => {
    for (let seen = -1; seen !== moved() && !closed; ) {
      await fallQuiet()
      seen = moved()
      await settled()
      await fallQuiet()
    }
  }
  for (const { bytes, turns, stall } of pieces) {
    if (isCalm) await hearAll()
    for (let n = turns; n > 0; n--) await turn()
    if (stall > 0) standStill(turnBegan + stall)
    if (!closed) socket.write(bytes)
  }
  await hearAll()
  for (let since = performance.now(), seen = news; performance.now() - since < silence && !closed; ) {
    await turn()
    if (seen !== news) since = performance.now()
    seen = news
  }
  socket.destroy()
  const raw = Buffer.concat(chunks).toString('latin1')
  return { text: comparable(raw), closed, reset, answers: raw.match(/HTTP\/1\.1 \d{3} [A-Z]/g)?.length ?? 0 }
}

// Conversations that are held at the same time share the turns of the event loop, and the time for which it is blocked.
let turnBegan = 0
let comingTurn: Promise<void> | undefined

function turn(): Promise<void> {
  comingTurn ??= new Promise(resolve => {
    setImmediate(() => {
      comingTurn = undefined
      turnBegan = performance.now()
      resolve()
    })
  })
  return comingTurn
}

/** `until`: by `performance.now()`. */
function standStill(until: number): void {
  const left = until - performance.now()
  if (left > 0) Atomics.wait(neverWoken, 0, 0, left)
}

const neverWoken = new Int32Array(new SharedArrayBuffer(4))

/** The time, the number of the request, and how long the connection stays: each server has its own. */
function comparable(text: string): string {
  return text.replace(/^(?:Date|X-Request-Id|Keep-Alive): .*\r\n/gm, '').replace(/\(request req-\w+\)/g, '')
}
