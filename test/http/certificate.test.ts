// HTTPS: what is served, which certificates are refused, and that a new one needs no restart.

import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { connect } from 'node:tls'
import { expiryWarning } from '../../daemon/http/certificate.ts'
import { launch, type TestDaemon } from '../support/daemon.ts'
import { givesUp, refusal } from '../support/gives-up.ts'
import { until } from '../support/until.ts'

const fixtures = join(import.meta.dirname, '../fixtures/tls')
const pair = (cert: string, key = cert) => [
  '--tls-cert',
  join(fixtures, `${cert}-cert.pem`),
  '--tls-key',
  join(fixtures, `${key}-key.pem`),
]

describe('natterd --tls-cert --tls-key', () => {
  let folder: string
  let daemon: TestDaemon
  const use = (name: string) => {
    for (const kind of ['cert', 'key']) cpSync(join(fixtures, `${name}-${kind}.pem`), join(folder, `${kind}.pem`))
  }

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'natter-tls-'))
    use('good')
    const flags = ['--memory', '--tls-cert', join(folder, 'cert.pem'), '--tls-key', join(folder, 'key.pem')]
    daemon = await launch(folder, { flags })
  })

  after(async () => {
    await daemon.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  /** The name in the certificate that a new connection gets. */
  const certificateName = () =>
    new Promise<string>((resolve, reject) => {
      const socket = connect({ port: Number(new URL(daemon.url).port), rejectUnauthorized: false }, () => {
        resolve(String(socket.getPeerCertificate().subject.CN))
        socket.destroy()
      }).on('error', reject)
    })

  const get = (path: string, body?: string) =>
    new Promise<{ status: number; text: string }>((resolve, reject) => {
      const { owner } = daemon.ready
      const headers = { 'Content-Type': 'application/x-www-form-urlencoded' }
      const auth = `${owner.email}:${owner.api_key}`
      const method = body === undefined ? 'GET' : 'POST'
      request(daemon.url + path, { auth, method, headers, rejectUnauthorized: false }, answer => {
        let text = ''
        answer.setEncoding('utf8').on('data', more => {
          text += more
        })
        answer.on('end', () => resolve({ status: answer.statusCode!, text }))
      })
        .on('error', reject)
        .end(body)
    })

  test('answers over HTTPS, and says so in the ready file', async () => {
    assert.match(daemon.url, /^https:\/\/127\.0\.0\.1:\d+$/)
    assert.equal((await get('/readyz')).status, 200)
    const { status, text } = await get('/api/v1/users/me')
    assert.equal(status, 200)
    assert.equal(JSON.parse(text).email, daemon.ready.owner.email)
    const content = encodeURIComponent('x'.repeat(9000))
    const sent = await get('/api/v1/messages', `type=direct&to=[${daemon.ready.owner.user_id}]&content=${content}`)
    assert.equal(sent.status, 200, sent.text)
  })

  test('takes a new certificate on SIGHUP, and keeps the one in use if the new one is wrong', async () => {
    assert.equal(await certificateName(), 'good.example')
    use('newer')
    daemon.process.kill('SIGHUP')
    await until(async () => (await certificateName()) === 'newer.example')
    use('expired')
    daemon.process.kill('SIGHUP')
    await until(() => /the certificate in use stays: the certificate in .* expired on/.test(daemon.stderr))
    assert.equal(await certificateName(), 'newer.example')
    cpSync(join(fixtures, 'good-cert.pem'), join(folder, 'cert.pem'))
    daemon.process.kill('SIGHUP')
    await until(() => /stays: the key in .* does not belong to the certificate/.test(daemon.stderr))
    assert.equal(await certificateName(), 'newer.example')
  })

  test('refuses to start with certificates that are of no use, and says why', async () => {
    const refused = async (flags: readonly string[], words: RegExp) =>
      assert.match(await refusal(folder, ['--memory', ...flags]), words)
    givesUp(
      ['--memory', ...pair('expired')],
      1,
      /the certificate in .*expired-cert\.pem expired on Jan.* 2021.*; renew it/,
    )
    await refused(pair('good', 'newer'), /the key in .*newer-key\.pem does not belong to the certificate/)
    await refused(pair('nothing', 'good'), /--tls-cert cannot be read: ENOENT/)
    const swapped = ['--tls-cert', join(fixtures, 'good-key.pem'), '--tls-key', join(fixtures, 'good-key.pem')]
    await refused(swapped, /good-key\.pem is not a certificate in PEM/)
    const noKey = ['--tls-cert', join(fixtures, 'good-cert.pem'), '--tls-key', join(fixtures, 'good-cert.pem')]
    await refused(noKey, /good-cert\.pem is not a private key in PEM/)
    const chain = join(folder, 'chain.pem')
    const nonsense = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'
    writeFileSync(chain, readFileSync(join(fixtures, 'good-cert.pem'), 'utf8') + nonsense)
    await refused(
      ['--tls-cert', chain, '--tls-key', join(fixtures, 'good-key.pem')],
      /--tls-cert .*chain\.pem and --tls-key .*good-key\.pem cannot be used for TLS/,
    )
    givesUp(
      ['--memory', ...pair('good').slice(0, 2)],
      2,
      /--tls-cert and --tls-key belong together; give --tls-key too/,
    )
  })

  test('warns when a certificate comes to its end', () => {
    const certificate = { cert: Buffer.alloc(0), key: Buffer.alloc(0), expires: new Date('2030-01-15') }
    assert.equal(expiryWarning(certificate, new Date('2029-12-01')), undefined)
    assert.match(expiryWarning(certificate, new Date('2030-01-10'))!, /expires in 5 days; renew it, then send SIGHUP/)
    assert.match(expiryWarning(certificate, new Date('2030-01-14'))!, /expires in 1 day;/)
    assert.match(expiryWarning(certificate, new Date('2030-02-01'))!, /has expired/)
  })
})
