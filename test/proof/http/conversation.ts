// The bytes of one connection: requests in many forms, some of them damaged, cut into writes at any place.

import { dice } from '../campaign.ts'

export interface Conversation {
  /** Written one after the other. */
  readonly pieces: readonly Piece[]
  /** How many requests were put in. */
  readonly requests: number
}

export interface Piece {
  readonly bytes: Buffer
  /** Turns of the event loop before it is written; 0: together with the piece before. */
  readonly turns: number
  /**
   * Milliseconds for which the process is blocked before it is written, the servers in it included. The disk works on
   * meanwhile, so a server finds in one turn first that an earlier request can be answered, and then these bytes.
   */
  readonly stall: number
}

export interface Account {
  readonly email: string
  readonly api_key: string
}

type Dice = () => number

export function makeConversation(seed: number, account: Account): Conversation {
  const random = dice(seed)
  const { any, write } = maker(random, account)
  if (random() < 0.15) return interrupted(random, write, any)
  const whole = Array.from({ length: 1 + Math.floor(random() ** 2 * 9) }, () => bytesOf(any()))
  const turns = Math.floor(random() * 4)
  const requests = whole.length
  const written = (pieces: readonly Buffer[], stalls: boolean): Conversation => ({
    pieces: pieces.map(bytes => ({ bytes, turns, stall: stalls && random() < 0.3 ? random() : 0 })),
    requests,
  })
  // Request by request, whether or not the one before is answered: this is what the direct server is made for.
  if (random() < 0.3) return written(whole, random() < 0.5)
  let bytes: Buffer = Buffer.concat(whole)
  // Some stay as they are: what goes wrong then goes wrong with clients that do nothing wrong.
  if (random() < 0.6) for (let n = 1 + Math.floor(random() * 3); n > 0; n--) bytes = spoil(bytes, random)
  return written(cut(bytes, random), random() < 0.1)
}

/** A write that waits for the disk, and more requests while it does, one of which comes just as the disk is done. */
function interrupted(random: Dice, write: () => string, any: () => string): Conversation {
  const turns = 1 + Math.floor(random() * 2)
  const pieces = [write(), any(), any(), any()].map((text, index) => ({
    bytes: bytesOf(text),
    turns,
    stall: index >= 2 && random() < 0.6 ? 0.2 + random() : 0,
  }))
  return { pieces, requests: pieces.length }
}

function bytesOf(text: string): Buffer {
  return Buffer.from(text, 'latin1')
}

/** The parts a head is made of. */
const paths = [
  '/api/v1/users/me',
  '/api/v1/users/me?client_gravatar=false&what=1&x=%ff',
  '/api/v1/server_settings',
  '/api/v1/users/999',
  '/api/v1/users/%',
  '/api/v1/nope',
  '/api/v1/saved_snippets/77',
  '/api/v1/typing',
  '/api/v1/settings',
  '/api/v1/events?dont_block=true&queue_id=none&last_event_id=-1',
  '/api/v1/messages/render?content=100%+**sure**',
  '/api/v1/avatar/9',
  '/api/v1',
  '/livez',
  '/static/icon.svg',
  '/nowhere',
  '*',
  'http://127.0.0.1/api/v1/users/me',
]
const methods = ['GET', 'GET', 'GET', 'POST', 'POST', 'PATCH', 'PUT', 'DELETE', 'HEAD', 'OPTIONS', 'get', 'TRACE']
const oddFields = [
  'Connection: close',
  'Connection: Keep-Alive',
  'Connection: keep-alive, x',
  'Connection: upgrade',
  'Proxy-Connection: close',
  'Upgrade: websocket',
  'Expect: 100-continue',
  'Expect: magic',
  'Trailer: x',
  'Transfer-Encoding: identity',
  'Transfer-Encoding: chunked',
  'Content-Length: 0',
  'Content-Length: 7',
  'Content-Length: 00000',
  'Content-Length: 5 ',
  'Content-Length:\t3',
  'Content-Length: +1',
  'Content-Length: 1,1',
  'Content-Length: 99999999999999999999',
  'X-Twice: 1\r\nX-Twice: 2',
  'Host: other.example',
  'Host:',
  'X-Empty:',
  'X-Tab:\ta\tb',
  'X-High: caf\xe9',
  'X-Control: a\x01b',
  'X-Folded: a\r\n b',
  ' X-Space: before',
  'X-Space : before the colon',
  'X-Bare: a\nb',
  'No colon at all',
  ': no name',
  'User-Agent: ZulipPython/0.9',
  'Accept-Encoding: gzip',
  'Content-Type: text/plain',
  'Authorization: Basic eDp5',
  'Authorization: Bearer x',
  `X-Long: ${'l'.repeat(9000)}`,
]

function maker(random: Dice, { email, api_key }: Account): { any: () => string; write: () => string } {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!
  const auth = `Authorization: Basic ${Buffer.from(`${email}:${api_key}`).toString('base64')}`
  const head = (line: string, ...fields: string[]) => {
    if (random() < 0.12) fields.splice(Math.floor(random() * (fields.length + 1)), 0, pick(oddFields))
    const version = random() < 0.02 ? 'HTTP/1.0' : 'HTTP/1.1'
    return [`${line} ${version}`, 'Host: 127.0.0.1', ...(random() < 0.9 ? [auth] : []), ...fields, '', ''].join('\r\n')
  }
  const form = 'Content-Type: application/x-www-form-urlencoded'
  const withBody = (line: string, type: string, body: string) =>
    head(line, type, `Content-Length: ${body.length}`) + body
  const text = () =>
    pick(['a', 'b%20c', '100%', '%ff', '\xc3\xa9', '\r\n\r\n', 'x'.repeat(Math.floor(random() ** 2 * 3000))])
  const snippet = () => withBody('POST /api/v1/saved_snippets', form, `title=t${text()}&content=c${text()}`)
  const plain = () => head(`${pick(methods)} ${pick(paths)}`)
  const any = () => {
    const kind = random()
    if (kind < 0.35) return plain()
    if (kind < 0.6) return snippet()
    if (kind < 0.68) return withBody('POST /api/v1/typing', form, `op=start&to=[1]&pad=${text()}`)
    if (kind < 0.74) return chunked(head, form, `title=k&content=${text()}`, random)
    if (kind < 0.8) return withBody(`${pick(methods)} ${pick(paths)}`, form, `a=${text()}`)
    if (kind < 0.86) {
      const part = `--b\r\nContent-Disposition: form-data; name="op"\r\n\r\nstart\r\n`
      const file = '--b\r\nContent-Disposition: form-data; name="f"; filename="f.txt"\r\n\r\nbytes\r\n'
      const end = random() < 0.7 ? '--b--\r\n' : ''
      return withBody('POST /api/v1/typing', 'Content-Type: multipart/form-data; boundary=b', part + file + end)
    }
    // A request inside a body must stay a body, wherever the reads happen to end.
    if (kind < 0.97) return withBody('POST /api/v1/saved_snippets', form, `title=in&content=${snippet()}${plain()}`)
    const size = Math.floor(random() ** 2 * 140_000)
    const inner = head('GET /api/v1/server_settings')
    const body = `title=large&content=${'y'.repeat(size)}${inner}${'z'.repeat(Math.floor(random() * 70_000))}`
    return withBody('POST /api/v1/saved_snippets', form, body)
  }
  return { any, write: snippet }
}

function chunked(
  head: (line: string, ...fields: string[]) => string,
  type: string,
  body: string,
  random: Dice,
): string {
  let text = head('POST /api/v1/saved_snippets', type, 'Transfer-Encoding: chunked')
  for (let at = 0; at < body.length; ) {
    const piece = body.slice(at, at + 1 + Math.floor(random() * body.length))
    text += `${piece.length.toString(16)}\r\n${piece}\r\n`
    at += piece.length
  }
  return `${text}0\r\n\r\n`
}

/** One small change at any place; more often in the first kilobytes, where the heads are. */
function spoil(bytes: Buffer, random: Dice): Buffer {
  const at = Math.floor(random() * (random() < 0.7 ? Math.min(bytes.length, 1500) : bytes.length))
  const before = bytes.subarray(0, at)
  const after = bytes.subarray(at)
  switch (Math.floor(random() * 8)) {
    case 0:
      return Buffer.concat([before, after.subarray(1 + Math.floor(random() * 6))])
    case 1:
      return Buffer.concat([before, Buffer.from([Math.floor(random() * 256)]), after])
    case 2:
      return Buffer.concat([before, Buffer.from([Math.floor(random() * 256)]), after.subarray(1)])
    case 3:
      return Buffer.concat([before, Buffer.from('\r\n'), after])
    case 4:
      return Buffer.concat([before, Buffer.from('\r\n\r\n'), after])
    case 5:
      return Buffer.concat([before, after.subarray(0, Math.floor(random() * 200)), after])
    case 6:
      return before.length > 0 ? before : bytes
    default: {
      // Another length than the body has.
      const text = bytes.toString('latin1')
      const length = [...text.matchAll(/Content-Length: (\d+)/g)].at(Math.floor(random() * 3))
      if (!length) return bytes
      const wrong = Math.max(0, Number(length[1]) + Math.floor(random() * 200) - 100)
      const end = length.index + length[0].length
      return Buffer.from(`${text.slice(0, length.index)}Content-Length: ${wrong}${text.slice(end)}`, 'latin1')
    }
  }
}

function cut(bytes: Buffer, random: Dice): Buffer[] {
  const most = [1, 1, 2, 4, 12][Math.floor(random() * 5)]!
  const places = Array.from({ length: most - 1 }, () => Math.floor(random() * bytes.length)).sort((a, b) => a - b)
  return [0, ...places]
    .map((place, index) => bytes.subarray(place, places[index] ?? bytes.length))
    .filter(p => p.length > 0)
}
