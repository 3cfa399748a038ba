// `natter proxy FILE --to SITE`: passes everything on to a real server, and records the calls.

import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { isLoopbackHost } from '../../../../daemon/local/loopback.ts'
import { Ending, exitCodes, Failure, usage } from '../../../base/failure.ts'
import { refuseExisting } from '../../../base/files.ts'
import { note } from '../../../base/note.ts'
import { readSite } from '../../../base/profile.ts'
import { onSignals } from '../../../base/signals.ts'
import type { ExtraSubcommand } from '../../../base/subcommand.ts'
import { print } from '../../../base/writer.ts'
import { printJson } from '../../../print/output.ts'
import { Progress } from '../../../terminal/progress.ts'
import { saltIn } from '../../organization/seed-pull/pull.ts'
import { runChild } from '../child.ts'
import { disguiseRecording } from './disguise-recording.ts'
import { Forwarder } from './forward.ts'
import { ProxyRecording } from './proxy-recording.ts'

export const subcommands: readonly ExtraSubcommand[] = [
  {
    name: 'proxy',
    about:
      'Pass calls on to a real server, and write each with its answer to a file, until Ctrl-C or until a command ends',
    args: [{ name: 'file', about: 'the recording to write, lines of JSON' }],
    flags: [
      { name: 'to', value: 'SITE', about: 'the server: https://chat.example.com' },
      { name: 'port', value: 'PORT', about: 'where to listen on this machine; a free port if you omit it' },
      { name: 'append', about: 'continue the recording if the file exists' },
      { name: 'disguise', about: 'replace names and email addresses by made-up ones when the recording ends' },
      {
        name: 'salt-file',
        value: 'FILE',
        about: 'with --disguise: give the same made-up names as natter seed pull with this file',
      },
    ],
    runs: true,
    globals: ['json', 'quiet'],
    more: `Give the address that is printed to a client in place of the server. Everything is passed through as it is: long polls, uploads, errors,
redirects, which are not followed. API keys, tokens and passwords are hidden in the recording; email addresses and texts are not, unless you add
--disguise. It knows the people whom a call, an answer or a mention in the recording names in full; nicknames, first names of two Latin letters,
parts of names written without spaces and other personal data in texts stay, so read the recording before you share it. Until the end, a
recording to be disguised is in FILE.partial, under the real names; --append continues that file after a crash, but not a recording that is
already disguised.
natter proxy FILE --to SITE -- COMMAND gives the command the address in NATTER_SITE and ZULIP_SITE. natter replay FILE --against natter shows
where natter differs from that server.`,
    examples: [
      'natter proxy talk.ndjson --to https://chat.example.com',
      'natter proxy talk.ndjson --to https://chat.example.com --disguise -- python3 bot.py',
    ],
    async run({ args: [file], rest = [], flags, globals }) {
      const site = siteIn(flags.to)
      const disguise = flags.disguise === true
      const salt = saltIn(flags['salt-file'] as string | undefined)
      if (disguise) refuseExisting(file!, 'Choose another name: a disguised recording cannot be continued.')
      const target = disguise ? `${file}.partial` : file!
      const recording = await ProxyRecording.open(target, flags.append === true)
      const progress = new Progress(undefined, globals)
      const forwarder = new Forwarder(site, exchange => {
        recording.add(exchange)
        progress.reach(recording.calls, `${recording.calls} calls recorded`)
      })
      const server = createServer((request, response) => {
        if (isForeign(request)) refuseForeign(response)
        else forwarder.forward(request, response)
      })
      // A poll may wait for as long as the server lets it.
      server.requestTimeout = 0
      server.listen(portIn(flags.port), '127.0.0.1')
      await Promise.race([once(server, 'listening'), once(server, 'error').then(([error]) => refuseListening(error))])
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
      // Before the address is printed: the program that reads it may end the proxy at once.
      const ended = new Promise<void>(resolve => onSignals(() => resolve()))
      if (rest.length === 0) globals.json ? printJson({ url, site, file }) : print(`${url}\n`)
      if (rest.length === 0) note(`passing calls on to ${site}, recording to ${file} until Ctrl-C`)
      const env = { ...process.env, NATTER_SITE: url, ZULIP_SITE: url }
      const code = rest.length === 0 ? await ended.then(() => exitCodes.done) : await runChild(rest, env)
      server.close()
      forwarder.stop()
      server.closeAllConnections()
      progress.end()
      await recording.end()
      if (disguise) disguiseRecording(target, file!, salt)
      note(`wrote ${file}, ${recording.calls} ${recording.calls === 1 ? 'call' : 'calls'}`)
      if (code !== exitCodes.done) throw new Ending(code)
    },
  },
]

function siteIn(given: unknown): string {
  if (given === undefined) throw usage('no server given', 'Example: --to https://chat.example.com')
  return readSite(String(given), '--to: ')
}

function portIn(given: unknown): number {
  const port = Number(given ?? 0)
  if (!/^\d+$/.test(String(given ?? 0)) || port > 65_535) throw usage('--port: must be a number up to 65535')
  return port
}

/** Whether a page of another site sent it, or one that calls this machine by a name of its own. */
function isForeign({ headersDistinct: { host = [], origin = [] } }: IncomingMessage): boolean {
  const sites = origin.map(site => site.replace(/^https?:\/\//, ''))
  return host.length > 1 || ![...host, ...sites].every(isLoopbackHost)
}

function refuseForeign(response: ServerResponse): void {
  const msg = 'natter proxy answers to loopback names only. Call it by the address that it prints.'
  const body = JSON.stringify({ result: 'error', msg, code: 'BAD_REQUEST' })
  response.writeHead(403, { 'Content-Type': 'application/json' }).end(body)
}

function refuseListening(error: NodeJS.ErrnoException): never {
  throw new Failure(exitCodes.refused, `cannot listen: ${error.code}`, { hint: 'Choose another --port.' })
}
