// Between a daemon and etcd: passes calls on, holds back what a daemon watches or is answered, or answers in place of etcd.

import { createServer, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

export interface EtcdProxy {
  readonly url: string
  /** From now on nothing comes by a watch, until it is false again. */
  holdsWatches: boolean
  /** Calls for which it is true are carried out, and their answers do not come. */
  losesAnswerOf: (path: string, body: string) => boolean
  /** Answers every call, if it is there. */
  instead: ((response: ServerResponse) => void) | undefined
  end(): void
}

export async function startEtcdProxy(target: string): Promise<EtcdProxy> {
  const server = createServer(async (incoming, response) => {
    if (proxy.instead) {
      incoming.resume()
      return proxy.instead(response)
    }
    const body = await text(incoming).catch(() => undefined)
    if (body === undefined) return
    const { method, headers, url = '' } = incoming
    const outgoing = request(`${target}${url}`, { method: method!, headers }, answer => {
      if (proxy.losesAnswerOf(url, body)) return answer.resume()
      response.writeHead(answer.statusCode!, answer.headers)
      answer.on('data', piece => {
        if (url !== '/v3/watch' || !proxy.holdsWatches) response.write(piece)
      })
      answer.on('end', () => response.end())
      answer.on('error', () => response.destroy())
    })
    outgoing.on('error', () => response.destroy())
    response.on('close', () => outgoing.destroy())
    outgoing.end(body)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const proxy: EtcdProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    holdsWatches: false,
    losesAnswerOf: () => false,
    instead: undefined,
    end() {
      server.closeAllConnections()
      server.close()
    },
  }
  return proxy
}
