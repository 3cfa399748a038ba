// Several connections at once, for batches: HTTP/1.1 in its plainest form, on sockets (docs/decisions/0011).

import type { Socket } from 'node:net'
import type { Account } from '../base/profile.ts'
import { defaultTimeout, headersOf, late, siteOf, unreachable } from './client.ts'
import { type RawReply, ReplyReader } from './reply-reader.ts'

/** A connection that was idle for longer may be about to be closed by the server. */
const trusted = 1000

interface Exchange {
  readonly method: string
  /** As it travels. */
  readonly text: string
  readonly timeout: number
  done(reply: RawReply): void
  failed(error: Error): void
}

export class Pool {
  readonly #site: string
  readonly #prefix: string
  readonly #origin: string
  readonly #most: number
  readonly #connect: () => Socket
  /** The lines of a head that are the same for all calls. */
  readonly #headers: string
  readonly #all = new Set<Line>()
  /** The one used last is used first. */
  readonly #free: Line[] = []
  readonly #waiting: Exchange[] = []

  private constructor(account: Account, most: number, connect: () => Socket) {
    const { host, origin, pathname } = new URL(siteOf(account))
    this.#site = siteOf(account)
    this.#origin = origin
    this.#prefix = pathname.replace(/\/$/, '')
    this.#most = most
    this.#connect = connect
    const headers = { Host: host, Connection: 'keep-alive', ...headersOf(account) }
    this.#headers = Object.entries(headers)
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join('')
  }

  static async open(account: Account, most: number): Promise<Pool> {
    const { protocol, hostname, port } = new URL(siteOf(account))
    const host = hostname.replace(/^\[|\]$/g, '')
    const secure = protocol === 'https:'
    const to = { host, port: Number(port) || (secure ? 443 : 80) }
    const { connect, isIP } = await import('node:net')
    if (!secure) return new Pool(account, most, () => connect(to))
    const { connect: connectSecurely } = await import('node:tls')
    // An address is no name that a certificate could be asked for.
    const servername = isIP(host) ? '' : host
    return new Pool(account, most, () => connectSecurely({ ...to, servername }))
  }

  /** Sends a form and takes whatever comes back. */
  send(method: string, path: string, form: string, timeout = defaultTimeout): Promise<RawReply> {
    const inQuery = method === 'GET' || method === 'HEAD'
    const target = this.#written(`${this.#prefix}${path}`, inQuery ? form : '')
    const body = inQuery
      ? '\r\n'
      : `Content-Type: application/x-www-form-urlencoded\r\nContent-Length: ${form.length}\r\n\r\n${form}`
    const text = `${method} ${target} HTTP/1.1\r\n${this.#headers}${body}`
    return new Promise((resolve, reject) => {
      this.#give({ method, text, timeout, done: resolve, failed: reject })
    })
  }

  close(): void {
    for (const line of this.#all) line.close()
  }

  #written(path: string, query: string): string {
    const whole = query === '' ? path : `${path}${path.includes('?') ? '&' : '?'}${query}`
    if (/^\/[\x21-\x7e]*$/.test(whole)) return whole
    const { pathname, search } = new URL(whole, this.#origin)
    return `${pathname}${search}`
  }

  #give(exchange: Exchange): void {
    const line = this.#usable()
    if (line) line.begin(exchange)
    else if (this.#all.size < this.#most) this.#open().begin(exchange)
    else this.#waiting.push(exchange)
  }

  #usable(): Line | undefined {
    for (let line = this.#free.pop(); line; line = this.#free.pop()) {
      if (performance.now() - line.freeSince < trusted) return line
      line.close()
      this.#all.delete(line)
    }
    return undefined
  }

  #open(): Line {
    const line = new Line(this.#connect(), {
      free: () => {
        const next = this.#waiting.shift()
        if (next) line.begin(next)
        else this.#free.push(line)
      },
      gone: () => {
        this.#all.delete(line)
        const at = this.#free.indexOf(line)
        if (at >= 0) this.#free.splice(at, 1)
        const next = this.#waiting.shift()
        if (next) this.#give(next)
      },
      late: timeout => late(this.#site, timeout),
      unreachable: error => unreachable(this.#site, error),
    })
    this.#all.add(line)
    return line
  }
}

interface LineEvents {
  free(): void
  gone(): void
  late(timeout: number): Error
  unreachable(error: Error): Error
}

/** One connection: a call at a time. */
class Line {
  readonly #socket: Socket
  readonly #events: LineEvents
  #exchange: Exchange | undefined
  #reader: ReplyReader | undefined
  freeSince = 0

  constructor(socket: Socket, events: LineEvents) {
    this.#socket = socket
    this.#events = events
    socket.setNoDelay(true)
    socket.on('data', bytes => this.#attempt(reader => reader.push(bytes)))
    socket.on('end', () => this.#attempt(reader => reader.end()))
    socket.on('timeout', () => this.#fail(events.late(this.#exchange?.timeout ?? 0)))
    socket.on('error', error => this.#fail(events.unreachable(error)))
    socket.on('close', () => {
      this.#fail(events.unreachable(new Error('the connection was closed')))
      events.gone()
    })
  }

  begin(exchange: Exchange): void {
    this.#exchange = exchange
    this.#reader = new ReplyReader(exchange.method)
    if (this.#socket.timeout !== exchange.timeout) this.#socket.setTimeout(exchange.timeout)
    this.#socket.write(exchange.text, 'latin1')
  }

  close(): void {
    this.#socket.destroy()
  }

  #attempt(read: (reader: ReplyReader) => RawReply | undefined): void {
    try {
      const reply = this.#reader && read(this.#reader)
      if (reply) this.#finish(reply)
      // Nothing was asked.
      else if (!this.#reader) this.close()
    } catch (error) {
      this.#fail(this.#events.unreachable(error as Error))
    }
  }

  #finish(reply: RawReply): void {
    const { done } = this.#exchange!
    const { reusable } = this.#reader!
    this.#exchange = undefined
    this.#reader = undefined
    done(reply)
    if (!reusable) this.close()
    else {
      this.freeSince = performance.now()
      this.#events.free()
    }
  }

  #fail(error: Error): void {
    this.#exchange?.failed(error)
    this.#exchange = undefined
    this.#reader = undefined
    this.close()
  }
}
