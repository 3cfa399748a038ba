// Requests of the worst kind, collected: each froze an earlier version for all callers, or is as large as the bounds allow. The
// regression tests and the bench share them.

import { type HttpOptions, multipart, send } from './http.ts'

export interface Target {
  readonly url: string
  /** Of the owner, as `email:key`. */
  readonly auth: string
}

export interface Attack {
  readonly name: string
  readonly method: string
  readonly path: string
  /** Whether it needs an account. */
  readonly account: boolean
  options(): HttpOptions
  /** Calls that come first; their waits do not count. */
  prepare?(target: Target): Promise<unknown>
}

const MiB = 1024 * 1024
const form = (fields: Readonly<Record<string, string>>): HttpOptions => ({
  headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
  body: new URLSearchParams(fields).toString(),
})
const raw = (body: string | Buffer, type = 'application/x-www-form-urlencoded'): HttpOptions => ({
  headers: { 'Content-Type': type },
  body,
})
const upload = (filename: string, contentType: string, bytes: Buffer): HttpOptions =>
  multipart(new Map([['file', { filename, contentType, bytes }]]))
const call = (target: Target, method: string, path: string, options: HttpOptions) =>
  send(target.url + path, { method, auth: target.auth, ...options })

const part = (name: string, value: string) =>
  `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
const multi = 'multipart/form-data; boundary=b'
const message = (content: string) => form({ type: 'direct', to: '["owner@example.com"]', content })

export const attacks: readonly Attack[] = [
  {
    name: 'a formula that defines what it repeats',
    method: 'POST',
    path: '/api/v1/messages/render',
    account: true,
    options: () => form({ content: `$$\\def\\a{${'\\sqrt x'.repeat(500)}}${'\\a'.repeat(900)}$$` }),
  },
  {
    name: 'formulas with many cells',
    method: 'POST',
    path: '/api/v1/messages/render',
    account: true,
    options: () => form({ content: `$$\\begin{matrix}${'&'.repeat(290)}\\end{matrix}$$ `.repeat(30) }),
  },
  {
    name: 'a multipart body of text that is not UTF-8, in many parts',
    method: 'POST',
    path: '/api/v1/fetch_api_key',
    account: false,
    options: () => {
      const bad = Buffer.concat(
        Array.from({ length: 990 }, (_, n) => Buffer.from(part(`p${n}`, '\xff'.repeat(960)), 'latin1')),
      )
      return raw(Buffer.concat([bad, Buffer.from('--b--\r\n')]), multi)
    },
  },
  {
    // Version 0.1.0 looked for each value in the whole body, which takes longest where all parts are nearly the same.
    name: 'a multipart body of values that are nearly alike, with U+FFFD',
    method: 'POST',
    path: '/api/v1/fetch_api_key',
    account: false,
    options: () => {
      const half = '\ufffd'.repeat(160)
      const parts = Array.from({ length: 990 }, (_, n) => part(`p${n}`, half + n + half))
      return raw(`${parts.join('')}--b--\r\n`, multi)
    },
  },
  {
    name: 'a multipart body of very many parts',
    method: 'POST',
    path: '/api/v1/fetch_api_key',
    account: false,
    options: () => raw('--b\r\n\r\n'.repeat(MiB / 7 - 10), multi),
  },
  {
    name: 'a part with a head of very many parameters',
    method: 'POST',
    path: '/api/v1/fetch_api_key',
    account: false,
    options: () =>
      raw(`--b\r\nContent-Disposition: form-data; ${'a="\\";'.repeat(12_000)}\r\n\r\nx\r\n--b--\r\n`, multi),
  },
  {
    name: 'a password of combining marks',
    method: 'POST',
    path: '/api/v1/fetch_api_key',
    account: false,
    options: () => raw(`username=owner%40example.com&password=${`${'\u0315\u0316'.repeat(110_000)}`}`),
  },
  {
    name: 'a form of ampersands',
    method: 'POST',
    path: '/api/v1/fetch_api_key',
    account: false,
    options: () => raw('&'.repeat(MiB)),
  },
  {
    name: 'a form of very many fields that names another method',
    method: 'POST',
    path: '/api/v1/fetch_api_key',
    account: false,
    options: () => raw(`${'a&'.repeat(MiB / 2 - 100)}method=GET`),
  },
  {
    name: 'a form of percent signs',
    method: 'POST',
    path: '/api/v1/fetch_api_key',
    account: false,
    options: () => raw(`username=${'%'.repeat(MiB - 100)}`),
  },
  {
    name: 'JSON that nests to the limit of a body',
    method: 'POST',
    path: '/api/v1/fetch_api_key',
    account: false,
    options: () => raw('['.repeat(MiB), 'application/json'),
  },
  {
    name: 'a list that nests',
    method: 'POST',
    path: '/api/v1/register',
    account: true,
    options: () => raw(`event_types=${'['.repeat(MiB - 100)}`),
  },
  {
    name: 'a picture in PNM that is all comment',
    method: 'POST',
    path: '/api/v1/user_uploads',
    account: true,
    options: () => upload('x.pnm', 'image/x-portable-anymap', Buffer.from(`P6\n${'#\n'.repeat(MiB / 2)}`)),
  },
  {
    name: 'the same as an avatar',
    method: 'POST',
    path: '/api/v1/users/me/avatar',
    account: true,
    options: () => upload('x.png', 'image/png', Buffer.from(`P6\n${'#\n'.repeat(MiB / 2)}`)),
  },
  {
    name: 'a JPEG of segments only',
    method: 'POST',
    path: '/api/v1/user_uploads',
    account: true,
    options: () => {
      const segment = Buffer.from([0xff, 0xe0, 0, 2])
      const segments = Array.from({ length: 250_000 }, () => segment)
      return upload('x.jpg', 'image/jpeg', Buffer.concat([Buffer.from([0xff, 0xd8]), ...segments]))
    },
  },
  {
    name: 'a narrow of very many terms',
    method: 'GET',
    path: '/api/v1/messages',
    account: true,
    options: () =>
      raw(`anchor=newest&num_before=100&num_after=0&narrow=[${'["is","starred"],'.repeat(50_000)}["is","dm"]]`),
  },
  {
    name: 'a search for very many words',
    method: 'GET',
    path: '/api/v1/messages',
    account: true,
    options: () => {
      const words = Array.from({ length: 60_000 }, (_, n) => `w${n.toString(36)}`).join(' ')
      return raw(
        `anchor=newest&num_before=100&num_after=0&narrow=${encodeURIComponent(JSON.stringify([['search', words]]))}`,
      )
    },
  },
  {
    // Each is refused once their patterns are too long together.
    name: 'a message for 40 costly linkifiers',
    method: 'POST',
    path: '/api/v1/messages',
    account: true,
    async prepare(target) {
      for (let n = 0; n < 40; n++) {
        const rule = { pattern: `(?P<x>[a-c ]{1,60}[xyz]${n})`, url_template: 'https://example.com/{x}' }
        await call(target, 'POST', '/api/v1/realm/filters', form(rule))
      }
    },
    options: () => message('ab c '.repeat(1900)),
  },
  {
    name: 'a message for a linkifier that reads all that follows before it matches a little',
    method: 'POST',
    path: '/api/v1/messages',
    account: true,
    prepare: target =>
      call(
        target,
        'POST',
        '/api/v1/realm/filters',
        form({ pattern: '(?P<x>q)(?: [q ]*z)?', url_template: 'https://example.com/{x}' }),
      ),
    options: () => message('q '.repeat(4999)),
  },
  {
    name: 'alert words beyond any need',
    method: 'POST',
    path: '/api/v1/messages',
    account: true,
    async prepare(target) {
      for (let first = 0; first < 80_000; first += 40_000) {
        const words = JSON.stringify(Array.from({ length: 40_000 }, (_, n) => `word ${first + n}`))
        await call(target, 'POST', '/api/v1/users/me/alert_words', form({ alert_words: words }))
      }
    },
    options: () => message('word '.repeat(2000)),
  },
  {
    name: 'a message of snowmen to many queues',
    method: 'POST',
    path: '/api/v1/messages',
    account: true,
    async prepare(target) {
      // As many as one account may have, none like another.
      const types = (n: number) => JSON.stringify(['message', `made-up-${n}`])
      const register = (n: number) =>
        call(target, 'POST', '/api/v1/register', form({ event_types: types(n), fetch_event_types: '[]' }))
      for (let made = 0; made < 1000; made += 50)
        await Promise.all(Array.from({ length: 50 }, (_, n) => register(made + n)))
    },
    options: () => message('☃'.repeat(10_000)),
  },
  ...[
    ['emphasis', '*a **b '.repeat(1400)],
    ['brackets', '['.repeat(10_000)],
    ['links', '[a]('.repeat(2500)],
    ['quotes', '> '.repeat(5000)],
    [
      'lists',
      Array.from({ length: 140 }, (_, n) => `${' '.repeat(n)}- x`)
        .join('\n')
        .slice(0, 9990),
    ],
    ['backticks', '`'.repeat(9999)],
    ['tables', `|${'a|'.repeat(60)}\n|${'-|'.repeat(60)}\n${`|${'b|'.repeat(60)}\n`.repeat(78)}`.slice(0, 9990)],
    ['mentions', '@**all** '.repeat(1100)],
    ['math', '$$x$$ '.repeat(1600)],
  ].map(
    ([kind, content]): Attack => ({
      name: `a message of ${kind}`,
      method: 'POST',
      path: '/api/v1/messages',
      account: true,
      options: () => message(content!),
    }),
  ),
]

/** The longest that another caller waited for a small answer while the attack was under way, in milliseconds. */
export async function longestWait(target: Target, attack: Attack): Promise<number> {
  const make = await ready(target, attack)
  let isOver = false
  const under = make().then(() => {
    isOver = true
  })
  let wait = 0
  for (let after = 0; after < 3; ) {
    const began = performance.now()
    await askLittle(target)
    wait = Math.max(wait, performance.now() - began)
    if (isOver) after++
  }
  await under
  return wait
}

/** What the attack costs the daemon by a clock that counts its work, and the status it is answered with. */
export async function costOf(
  target: Target,
  attack: Attack,
  clock: () => number,
): Promise<{ cost: number; status: number }> {
  const make = await ready(target, attack)
  const before = clock()
  const status = await make()
  // Work that it left for later comes before this.
  await askLittle(target)
  return { cost: clock() - before, status }
}

/** A small request of another caller. */
export async function askLittle({ url }: Pick<Target, 'url'>): Promise<void> {
  await send(`${url}/api/v1/server_settings`)
}

/** Everything is prepared and warm; what comes back makes the attack, and resolves to its status. */
async function ready(target: Target, attack: Attack): Promise<() => Promise<number>> {
  await attack.prepare?.(target)
  const { method, path, account } = attack
  const options = { method, ...(account && { auth: target.auth }), ...attack.options() }
  for (let n = 0; n < 5; n++) await askLittle(target)
  return () =>
    send(target.url + path, options).then(
      ({ status }) => status,
      // Refused before it was read: the daemon may hang up on the rest.
      () => 413,
    )
}
