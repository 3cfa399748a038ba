// The needs of a daemon from etcd: TLS, users, a version that it knows, and room. Where something is wrong it says so in a
// sentence and has written nothing.

import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { after, before, describe, test } from 'node:test'
import { Etcd, type EtcdOptions, EtcdUnreachable, encodeText, rangeEnd } from '../../daemon/cluster/etcd.ts'
import { Lease } from '../../daemon/cluster/lease.ts'
import { readConfig, UsageError } from '../../daemon/start/config.ts'
import { fakeServer, json, Shell } from '../support/cli.ts'
import { longLease, secret } from '../support/cluster.ts'
import { launch, type TestDaemon } from '../support/daemon.ts'
import { type EtcdCluster, type EtcdTls, startEtcd, withoutEtcd } from '../support/etcd.ts'
import { freePort } from '../support/free-port.ts'
import { refusal, refusedStart } from '../support/gives-up.ts'
import { root } from '../support/sources.ts'
import { until } from '../support/until.ts'

const fixture = (name: string) => join(root, 'test/fixtures/tls', `${name}.pem`)

describe('natterd --cluster', () => {
  let folder: string
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'natter-no-etcd-'))
  })
  after(() => rmSync(folder, { recursive: true, force: true }))

  test('says what is wrong with the flags', () => {
    const cluster = ['--cluster', 'http://127.0.0.1:1']
    const peers = ['--cluster-listen', '10.0.0.1:9992']
    const cases: [string[], RegExp][] = [
      [cluster, /--cluster needs --secret-file/],
      [[...cluster, '--secret', secret, '--memory'], /--memory and --cluster exclude each other/],
      [[...cluster, '--secret', secret, '--control'], /the control plane is for single daemons/],
      [[...cluster, '--secret', secret, '--clock', 'frozen'], /a cluster runs on the real time/],
      [[...cluster, '--secret', secret, '--new-secret'], /--new-secret and --cluster exclude each other/],
      [[...cluster, '--secret', secret, '--cluster-name', 'A b'], /--cluster-name takes/],
      [['--cluster', 'nonsense', '--secret', secret], /--cluster takes URLs such as/],
      [[...cluster, '--secret', secret, '--cluster-user', 'root'], /go together/],
      [['--advertise', 'http://10.0.0.1'], /--advertise needs --cluster/],
      [[...cluster, '--secret', secret, '--host', '0.0.0.0', ...peers], /--cluster needs --advertise URL here/],
      [[...cluster, '--secret', secret, '--host', '10.0.0.1'], /--cluster needs --cluster-listen HOST:PORT here/],
      [[...cluster, '--secret', secret, '--cluster-listen', '10.0.0.1'], /--cluster-listen takes HOST:PORT/],
      [[...cluster, '--secret', secret, '--cluster-listen', '10.0.0.1:99999'], /--cluster-listen takes HOST:PORT/],
      [[...cluster, '--secret', secret, '--cluster-listen', '[::]:9992'], /needs --cluster-advertise URL/],
      [[...cluster, '--secret', secret, ...peers, '--cluster-advertise', 'http://a/b'], /takes a URL without a path/],
      [peers, /--cluster-listen needs --cluster/],
      [['--cluster-key', 'key.pem'], /--cluster-key needs --cluster/],
    ]
    for (const [flags, wanted] of cases)
      assert.throws(
        () => readConfig(flags, {}),
        (error: Error) => error instanceof UsageError && wanted.test(error.message),
      )
  })

  const flags = (url: string) => ['--secret', secret, '--cluster', url]
  const refused = (url: string) => refusal(join(folder, 'store'), flags(url))

  test('reports that no etcd answers', async () => {
    assert.match(
      await refused(`http://127.0.0.1:${await freePort()}`),
      /etcd cannot be reached at http:\/\/127\.0\.0\.1:\d+: connect ECONNREFUSED/,
    )
  })

  test('says when etcd has another version, answers late, or is something else', async t => {
    const calls: string[] = []
    let version = '3.3.27'
    const old = await fakeServer(t, ({ url }, response) => {
      calls.push(url!)
      json(response, { version })
    })
    assert.match(await refused(old), /etcd at http:\S+ has version 3\.3\.27; natterd needs 3\.4 or newer/)
    version = '4.0.0'
    assert.match(await refused(old), /has version 4\.0\.0/)
    assert.deepEqual([...new Set(calls)], ['/v3/maintenance/status'], 'it asked for more than the version')
    let silent = 3
    const slow = await fakeServer(t, (_, response) => {
      silent--
      // More attempts than one call makes.
      if (silent < 0) json(response, { version: '3.2.1' })
    })
    const said = /no answer in time; trying again for up to 30 seconds\n.*has version 3\.2\.1/
    assert.match(await refusedStart(join(folder, 'store'), flags(slow)), said)
    const other = await fakeServer(t, (_, response) => json(response, { error: 'not found' }, 404))
    assert.match(await refused(other), /there is no etcd 3\.4 or newer at this address/)
  })
})

test('a lease ends by the answer of etcd alone, not by that of something in its place', async t => {
  let answer = '{}'
  const url = await fakeServer(t, (_, response) => response.end(answer))
  const etcd = new Etcd({ urls: [url] })
  t.after(() => etcd.close())
  const renew = () => etcd.call('/v3/lease/keepalive', { ID: '7' }, { deadlineMs: 200 })
  for (answer of ['{}', '[]', 'null', '{"result":{"TTL":"5"}}'])
    await assert.rejects(renew(), /the answer is not that of an etcd/)
  answer = '{"result":{"header":{},"ID":"7"}}'
  assert.deepEqual(await renew(), { header: {}, ID: '7' })
})

test('a lease lasts no longer than was asked for, whatever the answer says', async t => {
  let renewals = 0
  const url = await fakeServer(t, (request, response) => {
    if (request.url === '/v3/lease/grant') return json(response, { header: {}, ID: '7', TTL: '999999999999' })
    if (request.url === '/v3/lease/keepalive') renewals++
    json(response, { result: { header: {}, ID: '7', TTL: '999999999999' } })
  })
  const etcd = new Etcd({ urls: [url] })
  t.after(() => etcd.close())
  const lease = await Lease.grant(etcd, 600)
  await new Promise(resolve => setTimeout(resolve, 50))
  await lease.revoke()
  assert.equal(renewals, 0)
})

test('errors that come in place of those of etcd are reported in words', async t => {
  let status = 400
  let answer = ''
  const url = await fakeServer(t, (_, response) => response.writeHead(status).end(answer))
  const etcd = new Etcd({ urls: [url] })
  t.after(() => etcd.close())
  const call = () => etcd.call('/v3/kv/txn', {}, { deadlineMs: 200 })
  answer = '{"error":{"message":"bad"},"code":3}'
  await assert.rejects(call(), /etcd cannot be reached at http:\S+: status 400$/)
  status = 404
  answer = '{"error":"etcdserver: requested lease not found","code":5}'
  await assert.rejects(call(), /^EtcdRefused: the lease of this daemon has ended in etcd/)
  status = 200
  answer = '{"header":{"revision":"7"},"responses":[null]}'
  await assert.rejects(call(), /the answer is not that of an etcd/)
})

test('a call is not tried again after the client was closed', async () => {
  const etcd = new Etcd({ urls: ['http://127.0.0.1:1'] })
  const call = etcd.call('/v3/kv/range', {}, { deadlineMs: 600_000 })
  etcd.close()
  await assert.rejects(call, EtcdUnreachable)
})

test('an answer of etcd, or a line of a watch, that does not end is given up at 64 MiB', async t => {
  const piece = Buffer.alloc(1024 * 1024, 'x')
  const ended = new AbortController()
  let sent = 0
  const url = await fakeServer(t, (_, response) => {
    const endless = new Readable({
      read() {
        sent += piece.length
        this.push(piece)
      },
    })
    response.once('close', () => ended.abort())
    endless.pipe(response)
    response.once('close', () => endless.destroy())
  })
  const etcd = new Etcd({ urls: [url], attemptMs: callTimeout })
  const tooLarge = /the answer is not that of an etcd \(it has more than 64 MiB\)/
  // Not repeated when the server has noticed that it was given up.
  const call = etcd.call('/v3/kv/range', {}, { deadlineMs: callTimeout, signal: ended.signal })
  await assert.rejects(call, tooLarge)
  await assert.rejects(etcd.stream('/v3/watch', {}, new AbortController().signal).next(), tooLarge)
  assert.ok(sent < 1024 * piece.length, `${sent} bytes`)
  await etcd.close()
})

/** Milliseconds for a call of etcd on a busy machine. One attempt takes all of it: not every call may be made twice. */
const callTimeout = 60_000

describe('natterd --cluster with TLS, users and a quota of etcd', { skip: withoutEtcd ?? false }, () => {
  let folder: string
  let ca: string
  let files: EtcdTls
  let etcd: EtcdCluster
  /** The administrator of etcd. */
  let admin: Pick<Etcd, 'call' | 'close'>
  let tls: string[]
  let all: string[]
  let shell: Shell
  let first: TestDaemon
  let second: TestDaemon

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'natter-secured-'))
    ca = join(folder, 'authorities.pem')
    files = { ca, cert: fixture('nameless-cert'), key: fixture('nameless-key') }
    writeFileSync(ca, readFileSync(fixture('good-cert'), 'utf8') + readFileSync(fixture('nameless-cert'), 'utf8'))
    shell = new Shell(mkdtempSync(join(folder, 'home-')))
    writeFileSync(join(folder, 'password-right'), 'right\n')
    writeFileSync(join(folder, 'password-wrong'), 'wrong')
    // A check of a password at the usual cost takes longer than daemons wait when the machine is busy.
    etcd = await startEtcd(1, { flags: ['--quota-backend-bytes', '8000000', '--bcrypt-cost', '4'], tls: files })
    // One attempt for each: a user that is added a second time is refused.
    const open = new Etcd({ urls: etcd.urls, ...files, attemptMs: callTimeout })
    const prepare = (path: string, body: Record<string, unknown>) =>
      open.call(`/v3/auth/${path}`, body, { deadlineMs: callTimeout })
    const administrator = new Etcd({
      urls: etcd.urls,
      ...files,
      user: 'root',
      password: 'of the root',
      attemptMs: callTimeout,
    })
    admin = {
      call: (path, body) => administrator.call(path, body, { deadlineMs: callTimeout }),
      close: () => administrator.close(),
    }
    await prepare('user/add', { name: 'root', password: 'of the root' })
    await prepare('role/add', { name: 'root' })
    await prepare('user/grant', { user: 'root', role: 'root' })
    // No more than docs/cluster.md asks for.
    await prepare('user/add', { name: 'natter', password: 'right' })
    await prepare('role/add', { name: 'chat' })
    const [key, range_end] = [encodeText('/natter/chat/'), encodeText(rangeEnd('/natter/chat/'))]
    await prepare('role/grant', { name: 'chat', perm: { permType: 'READWRITE', key, range_end } })
    await prepare('user/grant', { user: 'natter', role: 'chat' })
    await prepare('enable', {})
    await open.close()
    tls = ['--cluster-ca', files.ca, '--cluster-cert', files.cert, '--cluster-key', files.key]
    all = ['--secret', secret, '--cluster', etcd.urls[0]!, '--cluster-name', 'chat', ...longLease]
  })
  after(async () => {
    for (const daemon of [first, second]) await daemon?.kill()
    await admin?.close()
    await etcd?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  const user = (word: 'right' | 'wrong') => [
    ...['--cluster-user', 'natter', '--cluster-password-file', join(folder, `password-${word}`)],
  ]
  const refused = (...flags: string[]) => refusal(join(folder, 'refused'), [...all, ...flags])
  const keys = async () => {
    const range = { key: encodeText('/natter/'), range_end: encodeText('/natter0'), count_only: true }
    return Number((await admin.call('/v3/kv/range', range)).count ?? 0)
  }

  test('says what etcd does not accept, and writes nothing', async () => {
    const absent = join(folder, 'absent.pem')
    const starts: [string[], RegExp][] = [
      [[...tls, ...user('wrong')], /invalid user ID or password\. Check --cluster-user and/],
      [[...tls, ...user('right'), '--cluster-name', 'other'], /permission denied\. The user \(--cluster-user\) needs/],
      [[...user('right'), '--cluster-ca', absent], /--cluster-ca cannot be read: ENOENT: no such file/],
    ]
    for (const [flags, wanted] of starts) assert.match(await refused(...flags), wanted)

    const named = { ca, cert: fixture('good-cert'), key: fixture('good-key') }
    const account = { user: 'natter', password: 'right' }
    const calls: [Partial<EtcdOptions>, RegExp][] = [
      [account, /^etcd cannot be reached at https:\S+: [\w ,;-]*certificate/i],
      [{ ...account, ca: fixture('newer-cert') }, /^etcd cannot be reached at https:\S+: [\w ,;-]*certificate/i],
      [{ ...account, ca }, /^etcd cannot be reached at https:\S+: \S+/],
      [{ ...account, ...named }, /refuses a certificate with a common name\. Give --cluster-cert one that has none$/],
      [files, /^etcd refuses this: etcdserver: (user name is empty|permission denied)\. /],
    ]
    for (const [options, wanted] of calls) {
      const attempt = new Etcd({ urls: etcd.urls, ...options })
      const range = { key: encodeText('/natter/chat/cluster') }
      const message = await until(async () => {
        const answer = await attempt.call('/v3/kv/range', range, { deadlineMs: 1000 }).catch(error => error)
        assert.ok(answer instanceof Error, 'etcd accepts it')
        // On a busy machine a second may be too short for a connection.
        return !answer.message.endsWith('no answer in time') && answer.message
      })
      assert.match(message, wanted)
      await attempt.close()
    }
    assert.equal(await keys(), 0)
  })

  test('joins with a certificate, a user and a password, and the daemons talk to each other over TLS', async () => {
    const env = { NODE_EXTRA_CA_CERTS: fixture('good-cert') }
    const start = async (name: string) => {
      const port = await freePort()
      const own = ['--port', String(port), '--advertise', `https://127.0.0.1:${port}`]
      const served = ['--tls-cert', fixture('good-cert'), '--tls-key', fixture('good-key')]
      const flags = [...all, ...tls, ...user('right'), ...own, ...served]
      return launch(join(folder, name), { flags, env })
    }
    first = await start('first')
    second = await start('second')
    const natter = async (daemon: TestDaemon, ...args: string[]) => {
      const { email, api_key } = daemon.ready.owner
      const account = { NATTER_SITE: daemon.url, NATTER_EMAIL: email, NATTER_API_KEY: api_key }
      const { code, stdout, stderr } = await shell.natter(args, { env: { ...env, ...account } })
      assert.equal(code, 0, stderr)
      return stdout
    }
    // The second one follows: this goes to the first, and a file comes from there.
    writeFileSync(join(folder, 'note.txt'), 'over TLS')
    const { email } = second.ready.owner
    await natter(second, 'send', '--to', email, 'hello', '--file', join(folder, 'note.txt'))
    for (const daemon of [first, second])
      assert.match(await natter(daemon, 'messages', 'list', '--json'), /hello[^"]*note\.txt/)
    const status = JSON.parse(await natter(second, 'cluster', 'status', '--json'))
    assert.equal(status.leader, first.url)
    assert.match(first.url, /^https:/)
  })

  test('refuses writes while the database of etcd is full, says how to mend that, and goes on afterwards', async () => {
    const filler = (i: number) => ({ key: encodeText(`/filler/${i}`), value: encodeText('x'.repeat(1_000_000)) })
    const isFull = (error: Error) => /^the database of etcd is full/.test(error.message)
    await assert.rejects(async () => {
      for (let i = 0; i < 20; i++) await admin.call('/v3/kv/put', filler(i))
    }, isFull)
    assert.match(await refused(...tls, ...user('right')), /the database of etcd is full.*etcdctl alarm disarm/s)
    const { email, api_key } = first.ready.owner
    const account = { NATTER_SITE: first.url, NATTER_EMAIL: email, NATTER_API_KEY: api_key }
    const env = { ...account, NODE_EXTRA_CA_CERTS: fixture('good-cert') }
    const send = () => shell.natter(['send', '--to', email, 'is there room?'], { env })
    const refusal = await send()
    assert.match(refusal.stderr, /your change may or may not have been saved\. Check before you repeat it/)
    assert.match(first.stderr, /no longer leads the cluster: the database of etcd is full.*etcdctl alarm disarm/)

    await admin.call('/v3/kv/deleterange', { key: encodeText('/filler/'), range_end: encodeText('/filler0') })
    const { header } = await admin.call('/v3/kv/range', { key: encodeText('/filler/') })
    await admin.call('/v3/kv/compaction', { revision: header.revision, physical: true })
    await admin.call('/v3/maintenance/defragment', {})
    const { alarms } = await admin.call('/v3/maintenance/alarm', { action: 'GET' })
    await admin.call('/v3/maintenance/alarm', { action: 'DEACTIVATE', ...alarms[0] })
    await until(async () => (await send()).code === 0)
    for (const { stderr } of [first, second])
      assert.ok(stderr.split('the database of etcd is full').length <= 4, `it says so again and again: ${stderr}`)
  })
})
