// Files that the command line reads, changed at random: each ends with a sentence and an exit code of the table, and in time.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { exitCodes } from '../../cli/base/failure.ts'
import { runHere } from '../support/cli-in-process.ts'
import { bareEnv } from '../support/natter-bundle.ts'
import { type Campaign, dice, Failure } from './campaign.ts'

/** Milliseconds that one run may take, on a machine that does much else. */
const runTimeout = 60_000
/** Where nothing listens. */
const nowhere = 'http://127.0.0.1:9'

interface Reader {
  /** Where the file is, below the home of the user. */
  readonly file: string
  readonly sample: (site: string) => string
  readonly args: (site: string) => readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

const lines = (...values: readonly object[]) => values.map(value => `${JSON.stringify(value)}\n`).join('')
const account = { email: 'amy@example.com', api_key: 'key' }
const caller = (site: string) => ['--site', site, '--user', account.email, '--api-key', account.api_key]
const zuliprc = () => `[api]\nemail=${account.email}\nkey=key\nsite=${nowhere}\n`
const ready = (site: string) =>
  JSON.stringify({ url: site, pid: 1, owner: { user_id: 8, ...account }, control_token: 'token', inspector: site })

const readers: Readonly<Record<string, Reader>> = {
  recording: {
    file: 'talk.ndjson',
    sample: () => {
      const call = { call: 1, time: 0, user: account.email, method: 'GET', path: '/api/v1/users/me' }
      const rest = { user_agent: 'x', endpoint: 'get-own-user', sent: { a: '1' }, status: 200, answer: { id: 1 } }
      return lines({ natter_recording: 1, clock: { frozen: true } }, { ...call, ...rest }, { end: 1 })
    },
    args: site => ['replay', 'talk.ndjson', '--site', site, '--control-token', 'token'],
  },
  zuliprc: { file: 'zuliprc', sample: zuliprc, args: () => ['env'] },
  'zuliprc to import': { file: 'rc', sample: zuliprc, args: () => ['profile', 'add', 'x', '--from-zuliprc', 'rc'] },
  config: {
    file: 'config.json',
    sample: () => JSON.stringify({ timeout: '1s', retry: 1, color: 'never', quiet: true, daemon: { port: 1 } }),
    args: site => ['users', 'me', ...caller(site)],
    env: { NATTER_CONFIG: 'config.json' },
  },
  profiles: {
    file: '.config/natter/profiles.json',
    sample: site =>
      JSON.stringify({ current: 'a', previous: 'b', profiles: { a: { site, ...account }, b: { site, ...account } } }),
    args: () => ['users', 'me'],
  },
  'ready file': { file: 'ready.json', sample: ready, args: () => ['env', 'ready.json'] },
  batch: {
    file: 'calls.ndjson',
    sample: () => lines({ method: 'POST', path: '/typing', params: { op: 'start', to: [9] } }, { path: '/users/me' }),
    args: site => ['api', '--batch', 'calls.ndjson', '--keep-going', ...caller(site)],
  },
  'batch of messages': {
    file: 'sends.ndjson',
    sample: () =>
      lines({ type: 'direct', to: [9], content: 'Hello' }, { type: 'channel', to: 1, topic: 't', content: 'x' }),
    args: site => ['messages', 'send', '--batch', 'sends.ndjson', '--keep-going', ...caller(site)],
  },
  resume: {
    file: 'state.json',
    sample: () => JSON.stringify({ run: 'b7c1', done: 0, digest: '' }),
    args: site => ['api', '--batch', '/dev/null', '--resume', 'state.json', ...caller(site)],
  },
  cursor: {
    file: 'cursor',
    sample: () => {
      const position = { queue_id: 'q', last_event_id: 1, last_message_id: null }
      return JSON.stringify({ ...position, site: nowhere, email: account.email, wants: '' })
    },
    args: () => ['tail', '--cursor', 'cursor', '--count', '1', '--within', '1s', ...caller(nowhere)],
  },
  export: {
    file: 'saved/export.json',
    sample: site => JSON.stringify({ site, account: account.email, flags: {}, since: null, until: null }),
    args: site => ['messages', 'export', 'saved', ...caller(site)],
  },
  'pull that was cut off': {
    file: 'team.json.partial',
    sample: site =>
      JSON.stringify({
        site,
        email: account.email,
        organization: { name: 'x' },
        settings: {},
        people: [{ user_id: 8, email: 'a@b.c', full_name: 'Amy', is_active: true, is_bot: false, role: 100 }],
        groups: [{ id: 1, name: 'g', members: [8] }],
        channels: [{ stream_id: 1, name: 'general' }],
        subscribers: { 1: [8] },
        messages: {},
      }),
    args: site => ['seed', 'pull', 'team.json', '--force', ...caller(site)],
  },
}

export const campaign: Campaign = {
  about: 'files that the command line reads, changed at random: a sentence and an exit code, never a stack trace',
  unit: 'files',
  long: 20_000,
  short: 65,
  async run({ count, seed, deadline = Number.POSITIVE_INFINITY, progress = () => {} }) {
    const server = await answering()
    const site = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const names = Object.keys(readers)
    const codes = new Map<number, number>()
    let done = 0
    try {
      for (; done < count && performance.now() < deadline; done++) {
        const name = names[(seed + done) % names.length]!
        const code = await readOnce(name, site, seed + done)
        codes.set(code, (codes.get(code) ?? 0) + 1)
        if (done % 100 === 0) progress(done)
      }
    } finally {
      server.closeAllConnections()
      server.close()
    }
    const tally = [...codes].sort(([a], [b]) => a - b).map(([code, number]) => `${number} × ${code}`)
    return { done, summary: `exit codes ${tally.join(', ')}` }
  },
}

async function readOnce(name: string, site: string, seed: number): Promise<number> {
  const { file, sample, args, env } = readers[name]!
  const home = mkdtempSync(join(tmpdir(), 'natter-prove-'))
  const content = changed(sample(site), dice(seed))
  try {
    mkdirSync(dirname(join(home, file)), { recursive: true })
    writeFileSync(join(home, file), content, { mode: 0o600 })
    const run = runHere(args(site), { env: { ...bareEnv, HOME: home, ...env }, cwd: home })
    const late = new Promise<never>((_, reject) => {
      setTimeout(() => reject(new Error(`no end within ${runTimeout} ms`)), runTimeout).unref()
    })
    const { code, stdout, stderr } = await Promise.race([run, late])
    const wrong = wrongIn(code, stdout, stderr)
    if (wrong === undefined) return code!
    throw new Error(`${wrong}\nexit code ${code}\n${stdout}${stderr}`)
  } catch (error) {
    throw new Failure(
      seed,
      `${name}: ${(error as Error).message}\nfile: ${JSON.stringify(content.toString('latin1').slice(0, 4000))}`,
    )
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
const steering = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/

function wrongIn(code: number | null, stdout: string, stderr: string): string | undefined {
  if (!(Object.values(exitCodes) as (number | null)[]).includes(code)) return 'an exit code that is not in the table'
  if (/^ +at .*:\d+:\d+/m.test(stdout + stderr)) return 'a stack trace'
  if (/NATTER_DEBUG/.test(stderr)) return 'an unexpected error'
  return steering.test(stdout + stderr) ? 'a control character' : undefined
}

const odd = [
  'null',
  '[]',
  '{}',
  '-1',
  '1e999',
  '9007199254740993',
  '""',
  '"\\u001b[2J"',
  'true',
  '[[[[[[[[',
  '"__proto__":{}',
  '\n',
  ',',
  '"',
  '\u0000',
  '\u009b31m',
  '../..',
  '@evil.example/',
]

/** A few changes: bytes, cuts, odd values in the place of others, or something else altogether. */
function changed(text: string, random: () => number): Buffer {
  const pick = <T>(list: readonly T[]) => list[Math.floor(random() * list.length)]!
  if (random() < 0.05) return Buffer.from(Array.from({ length: 200 }, () => Math.floor(random() * 256)))
  if (random() < 0.03) return Buffer.from('['.repeat(100_000))
  let made = text
  for (let left = 1 + Math.floor(random() * 3); left > 0; left--) {
    const at = Math.floor(random() * made.length)
    const values = [...made.matchAll(/"(?:[^"\\]|\\.)*"|-?\d+|true|false|null|\{\}|\[\]/g)]
    const kind = random()
    if (kind < 0.5 && values.length > 0) {
      const { index, 0: value } = pick(values)
      made = `${made.slice(0, index)}${pick(odd)}${made.slice(index + value.length)}`
    } else if (kind < 0.65) made = made.slice(0, at)
    else if (kind < 0.8) made = `${made.slice(0, at)}${pick(odd)}${made.slice(at)}`
    else if (kind < 0.9) made = `${made.slice(0, at)}${made.slice(Math.floor(at / 2))}`
    else made = `${made.slice(0, at)}${String.fromCharCode(Math.floor(random() * 256))}${made.slice(at + 1)}`
  }
  return Buffer.from(made)
}

/** Enough of a server that every reader comes to an end. */
function answering(): Promise<Server> {
  const body = {
    result: 'success',
    msg: '',
    account: { user_id: 8, full_name: 'Amy', ...account },
    messages: [],
    found_newest: true,
  }
  const lists = { members: [], user_groups: [], streams: [], subscribers: [], events: [], frozen: false, now: 0, id: 1 }
  const text = JSON.stringify({ ...body, ...lists, full_name: 'Amy', user_id: 8, email: account.email })
  const server = createServer((request, response) => {
    request.resume()
    request.on('end', () => response.writeHead(200, { 'Content-Type': 'application/json' }).end(text))
  })
  return new Promise(resolve => server.listen(0, '127.0.0.1', () => resolve(server)))
}
