// Mail about a deactivation: kept in the outbox, or sent by SMTP, also after a restart.

import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { users } from '../../daemon/api/people/users.ts'
import { openMailer } from '../../daemon/io/mail.ts'
import { host, launch, newStoreFolder, startDaemon } from '../support/daemon.ts'
import { mailsIn } from '../support/outbox.ts'
import { until } from '../support/until.ts'
import { person } from '../support/world.ts'

const comment = 'Thank you for everything, Zoë.'

describe('mails at a stop', () => {
  /** A server that takes connections and says nothing. */
  const openSilent = async (t: TestContext): Promise<string> => {
    const sockets: Socket[] = []
    const server = createServer(socket => sockets.push(socket))
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    t.after(() => {
      server.close()
      for (const socket of sockets) socket.destroy()
    })
    return `smtp://127.0.0.1:${(server.address() as { port: number }).port}`
  }
  const mails = ['amy', 'bob', 'cat'].map(name => ({ to: `${name}@example.com`, subject: 'x', text: comment }))

  test('are all on disk although the server does not answer, and how many wait is reported', async t => {
    const data = mkdtempSync(join(tmpdir(), 'natter-test-'))
    t.after(() => rmSync(data, { recursive: true, force: true }))
    const warned = t.mock.method(process.stderr, 'write', () => true)
    const parts = { folder: join(data, 'outbox'), smtpUrl: await openSilent(t), from: 'a@example.com', now: () => 1 }
    const mailer = openMailer(parts)
    mailer.post(mails)
    await mailer.settled()
    warned.mock.restore()
    assert.equal(mailsIn(data).length, 3)
    const said = warned.mock.calls.map(call => call.arguments[0]).join('')
    assert.match(said, /mail: 3 in \S+outbox could not be sent before the stop; the next start sends what is there/)
  })

  test('are not read through a link that leads out of the outbox', async t => {
    const data = mkdtempSync(join(tmpdir(), 'natter-test-'))
    t.after(() => rmSync(data, { recursive: true, force: true }))
    writeFileSync(join(data, 'private'), 'To: amy@example.com\n\nprivate')
    mkdirSync(join(data, 'outbox'))
    symlinkSync(join(data, 'private'), join(data, 'outbox/1.eml'))
    const warned = t.mock.method(process.stderr, 'write', () => true)
    const parts = { folder: join(data, 'outbox'), smtpUrl: await openSilent(t), from: 'a@example.com', now: () => 1 }
    const mailer = openMailer(parts)
    mailer.resume()
    await mailer.settled()
    warned.mock.restore()
    // A mail that it had read would wait for the server. The mailers of other tests may still report that theirs is gone.
    const said = warned.mock.calls.map(call => call.arguments[0]).join('')
    assert.doesNotMatch(said, /could not be sent before the stop/)
  })

  test('are lost without a disk, and how many is reported', async t => {
    const warned = t.mock.method(process.stderr, 'write', () => true)
    const mailer = openMailer({ folder: null, smtpUrl: await openSilent(t), from: 'a@example.com', now: () => 1 })
    mailer.post(mails)
    await mailer.settled()
    warned.mock.restore()
    const said = warned.mock.calls.map(call => call.arguments[0]).join('')
    assert.match(said, /mail: 3 could not be sent before the stop, and are lost/)
  })
})

test('a mail is sent to an address that takes a line of its own', async t => {
  const received: string[] = []
  const server = smtpServer(received)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const smtpUrl = `smtp://127.0.0.1:${(server.address() as { port: number }).port}`
  const mailer = openMailer({ folder: null, smtpUrl, from: 'a@example.com', now: () => 1 })
  const addresses = ['amy', 'a'.repeat(60), 'a'.repeat(200)].map(name => `${name}@example.com`)
  mailer.post(addresses.map(to => ({ to, subject: 'x', text: comment })))
  await mailer.settled()
  assert.deepEqual(
    received.map(mail => /^To:\s+(\S+)/m.exec(mail)![1]),
    addresses,
  )
})

describe('deactivation_notification_comment', () => {
  test('without an SMTP server the mail stays in the outbox; none is written when no comment is given', async t => {
    const daemon = await startDaemon(t)
    const [amy, bob, cat] = [await person(daemon, 'amy'), await person(daemon, 'bob'), await person(daemon, 'cat')]
    await daemon.owner.call(users.deactivate, { user_id: cat.id })
    await daemon.owner.call(users.deactivate, { user_id: amy.id, deactivation_notification_comment: comment })
    await daemon.owner.call(users.deactivate, { user_id: bob.id, deactivation_notification_comment: '' })
    await until(() => mailsIn(daemon.data).length === 2)
    const mails = mailsIn(daemon.data)
    const [toAmy, toBob] = ['amy', 'bob'].map(name => mails.find(mail => mail.includes(`To: ${name}@example.com`))!)
    assert.match(toAmy!, /^From: noreply@example\.com\r$/m)
    assert.match(toAmy!, /Thank you for everything, Zo=C3=AB/)
    assert.ok(!toBob!.includes('comment:'))
  })

  test('with an SMTP server it is sent and leaves the outbox; one that could not be sent goes at the next start', async t => {
    const data = mkdtempSync(join(tmpdir(), 'natter-test-'))
    const received: string[] = []
    const server = smtpServer(received)
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as { port: number }
    t.after(() => {
      server.close()
      rmSync(data, { recursive: true, force: true })
    })
    const silent = createServer(socket => socket.destroy())
    await new Promise<void>(resolve => silent.listen(0, '127.0.0.1', resolve))
    const deaf = (silent.address() as { port: number }).port
    const first = await launch(data, { flags: ['--smtp-url', `smtp://127.0.0.1:${deaf}`] })
    const amy = await person(first, 'amy')
    await first.owner.call(users.deactivate, { user_id: amy.id, deactivation_notification_comment: comment })
    await until(() => first.stderr.includes('mail'))
    assert.equal(mailsIn(data).length, 1)
    await first.stop()
    silent.close()
    const second = await host(data, { flags: ['--smtp-url', `smtp://127.0.0.1:${port}`] })
    await until(() => received.length === 1 && mailsIn(data).length === 0)
    assert.match(received[0]!, /^To: amy@example\.com$/m)
    await second.stop()
  })

  test('is on disk when the daemon stops, also behind one that the SMTP server does not take', async t => {
    const data = newStoreFolder()
    const sockets: Socket[] = []
    const silent = createServer(socket => void sockets.push(socket))
    await new Promise<void>(resolve => silent.listen(0, '127.0.0.1', resolve))
    t.after(() => {
      for (const socket of sockets) socket.destroy()
      silent.close()
    })
    const { port } = silent.address() as { port: number }
    const daemon = await startDaemon(t, { data, flags: ['--smtp-url', `smtp://127.0.0.1:${port}`] })
    for (const name of ['amy', 'bob']) {
      const { id } = await person(daemon, name)
      await daemon.owner.call(users.deactivate, { user_id: id, deactivation_notification_comment: comment })
    }
    await daemon.stop()
    assert.equal(mailsIn(data).length, 2)
  })
})

/** Just enough SMTP to take a mail. */
function smtpServer(received: string[]): Server {
  return createServer(socket => {
    let data: string | undefined
    socket.write('220 test\r\n')
    let buffer = ''
    socket.setEncoding('utf8').on('data', chunk => {
      buffer += chunk
      for (let end = buffer.indexOf('\r\n'); end >= 0; end = buffer.indexOf('\r\n')) {
        const line = buffer.slice(0, end)
        buffer = buffer.slice(end + 2)
        if (data !== undefined) {
          if (line === '.') {
            received.push(data)
            data = undefined
            socket.write('250 taken\r\n')
          } else data += `${line}\n`
        } else if (/^DATA/i.test(line)) {
          data = ''
          socket.write('354 go on\r\n')
        } else if (/^QUIT/i.test(line)) socket.end('221 bye\r\n')
        else socket.write('250 ok\r\n')
      }
    })
  })
}
