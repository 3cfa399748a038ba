// Files on the command line: `send --file`, `uploads url`, `uploads download`, `messages export`.

import assert from 'node:assert/strict'
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import type { RequestListener } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, type TestContext, test } from 'node:test'
import { lockStore } from '../../daemon/journal/store-lock.ts'
import { json as answer, fakeServer, newShell, Watched } from '../support/cli.ts'
import { inProcess } from '../support/cli-in-process.ts'
import { sharedDaemon } from '../support/daemon.ts'

describe('files', () => {
  const daemon = sharedDaemon()
  const folder = mkdtempSync(join(tmpdir(), 'natter-files-'))
  const report = join(folder, 'the [first] report ä.txt')
  let env: Record<string, string>

  before(async () => {
    writeFileSync(report, 'all is well')
    const { email, api_key } = daemon().ready.owner
    env = { NATTER_SITE: daemon().url, NATTER_EMAIL: email, NATTER_API_KEY: api_key }
    await natter('channels', 'create', 'general')
  })
  after(() => rmSync(folder, { recursive: true, force: true }))

  async function natter(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await inProcess(args, { env })
    assert.equal(code, 0, `natter ${args.join(' ')}: ${stderr}`)
    return stdout.trimEnd()
  }

  async function refused(...args: string[]): Promise<[number | null, string]> {
    const { code, stderr } = await inProcess(args, { env })
    assert.notEqual(code, 0, args.join(' '))
    return [code, stderr]
  }

  async function content(id: string): Promise<string> {
    return JSON.parse(await natter('messages', 'show', id, '--json')).message.content
  }

  test('uploads url and uploads download take what uploads create prints', async () => {
    const path = await natter('uploads', 'create', report)
    assert.match(path, /^\/user_uploads\//)
    assert.match(await natter('uploads', 'url', path), /^\/user_uploads\/temporary\//)
    const target = join(folder, 'copy.txt')
    assert.equal(await natter('uploads', 'download', path, '-o', target), target)
    assert.equal(readFileSync(target, 'utf8'), 'all is well')
    assert.deepEqual((await refused('uploads', 'download', path, '-o', target))[0], 2)
    await natter('uploads', 'download', `${daemon().url}${path}`, '-o', target, '--yes')
    const { attachments } = JSON.parse(await natter('uploads', 'list', '--json'))
    await natter('uploads', 'download', attachments[0].path_id, '-o', join(folder, 'by-id.txt'))
    assert.equal(readFileSync(join(folder, 'by-id.txt'), 'utf8'), 'all is well')
  })

  test('uploads download leaves nothing behind when there is no such file, and takes no file of another site', async () => {
    const target = join(folder, 'none.txt')
    const [code] = await refused('uploads', 'download', '/user_uploads/1/ab/none.txt', '-o', target)
    assert.equal(code, 3)
    assert.deepEqual(
      readdirSync(folder).filter(name => name.endsWith('.tmp') || name === 'none.txt'),
      [],
    )
    for (const wrong of ['https://example.com/user_uploads/1/ab/x.txt', '/user_uploads/1/../../etc/passwd', 'x'])
      assert.equal((await refused('uploads', 'download', wrong, '-o', target))[0], 2, wrong)
  })

  test('uploads list shows times as dates', async () => {
    const [heading, row] = (await natter('uploads', 'list')).split('\n')
    assert.match(heading!, /^id +path_id +create_time +size +name$/)
    assert.match(row!, / \d{4}-\d\d-\d\d \d\d:\d\d:\d\d /)
  })

  test('send --file uploads the file and links to it', async () => {
    const id = await natter('send', '#general>reports', 'Read this:', '--file', report, '--file', report)
    const text = await content(id)
    assert.match(text, /^Read this:\n\[the _first_ report ä\.txt\]\(\/user_uploads\/\S+\)\n\[the _first_.+\)$/)
    const alone = await content(await natter('send', '--to', 'me', '--file', report))
    assert.match(alone, /^\[the _first_ report ä\.txt\]\(\/user_uploads\/\S+\)$/)
    const word = await content(await natter('send', 'words', '--to', 'me', '--file', report))
    assert.match(word, /^words\n\[/)
    const piped = await inProcess(['send', '#general>reports', '-', '--file', report], { env, input: 'from stdin\n' })
    assert.match(await content(piped.stdout.trim()), /^from stdin\n\[/)

    assert.match(await natter('send', '#general>x', 'hi', '--file', report, '--dry-run'), /^content=hi$/m)
    assert.equal((await refused('send', '#general>x', 'hi', '--file', join(folder, 'nothing')))[0], 2)
    assert.equal((await refused('send', '#general>x', '--file', report, '--batch', '-'))[0], 2)
  })

  test('send --file with an idempotency key can be repeated', async () => {
    const uploads = async () => JSON.parse(await natter('uploads', 'list', '--json')).attachments.length
    const before = await uploads()
    const args = ['send', '#general>again', 'Read this:', '--file', report, '--file', report]
    const first = await natter(...args, '--idempotency-key', 'of-this-report')
    assert.equal(await natter(...args, '--idempotency-key', 'of-this-report'), first)
    assert.equal(await uploads(), before + 2)
    assert.notEqual(await natter(...args, '--idempotency-key', 'of-another'), first)
  })

  // Where the system says so of a folder in an existing one, `recursive` of mkdir never returns.
  test('a folder that cannot be made ends in a sentence', {
    skip: process.platform !== 'linux',
    timeout: 60_000,
  }, async t => {
    const args = ['messages', 'export', '/proc/natter', '--channel', 'general']
    const watched = new Watched(t, newShell(t, env).spawn(args))
    assert.notEqual(await watched.ended, 0)
    assert.match(watched.stderr, /^natter: .*\/proc\/natter/)
  })

  describe('messages export', () => {
    const target = join(folder, 'backup')
    const lines = (of = target) =>
      readFileSync(join(of, 'messages.ndjson'), 'utf8')
        .split('\n')
        .filter(line => line !== '')
        .map(line => JSON.parse(line))

    test('saves messages and files, and continues where it was killed', async () => {
      for (let n = 0; n < 5; n++) await natter('send', '#general>export', `message ${n}${n === 3 ? '\u2028on' : ''}`)
      const first = JSON.parse(await natter('messages', 'export', target, '--channel', 'general', '--json'))
      const all = lines()
      assert.equal(first.messages, all.length)
      assert.ok(all.some(({ content }) => content === 'message 4'))
      const links = all.flatMap(({ content }) =>
        [...content.matchAll(/\/user_uploads\/([^)]+)/g)].map(([, path]) => path),
      )
      assert.ok(links.length >= 2)
      assert.equal(first.files, links.length)
      for (const path of links)
        assert.equal(readFileSync(join(target, 'files', decodeURIComponent(path)), 'utf8'), 'all is well')

      const format = ['--channel', 'general', '--format']
      await natter('messages', 'export', target, ...format, 'md')
      const document = readFileSync(join(target, 'messages.md'), 'utf8')
      assert.match(document, /^## #general > .*\n\n\*\*.+\*\* \d{4}-\d\d-\d\d \d\d:\d\d UTC\n\n/)
      assert.match(document, /\nmessage 4\n/)
      assert.ok(document.includes(`(files/${links[0]})`), document)
      const direct = join(folder, 'direct')
      await natter('send', 'owner@example.com', 'a note')
      await natter('messages', 'export', direct, '--narrow', 'is:dm', '--format', 'md')
      assert.match(readFileSync(join(direct, 'messages.md'), 'utf8'), /^## @ Olive Owner\n/)
      const wrong = await inProcess(['messages', 'export', target, ...format, 'pdf'], { env })
      assert.deepEqual([wrong.code, wrong.stderr], [2, 'natter: --format: "pdf" is not ndjson or md\n'])

      // As a kill leaves it: the last line is torn.
      const file = join(target, 'messages.ndjson')
      writeFileSync(file, readFileSync(file, 'utf8').slice(0, -20))
      await natter('send', '#general>export', 'a later one')
      const second = await inProcess(['messages', 'export', target, '--channel', 'general', '--json'], { env })
      assert.equal(second.code, 0, second.stderr)
      assert.match(second.stderr, /continuing after message \d+/)
      assert.equal(JSON.parse(second.stdout).messages, 2)
      const ids = lines().map(({ id }) => id)
      assert.deepEqual(
        ids,
        [...new Set(ids)].sort((a, b) => a - b),
      )
      assert.equal(lines().length, all.length + 1)
      assert.equal(lines().at(-1).content, 'a later one')
      assert.equal(JSON.parse(await natter('messages', 'export', target, '--channel', 'general', '--json')).messages, 0)
    })

    test('refuses a folder of another export, and one whose last line is damaged', async () => {
      const [code, stderr] = await refused('messages', 'export', target)
      assert.equal(code, 2)
      assert.match(stderr, /holds another export: owner@\S+ at \S+, --channel general/)
      appendFileSync(join(target, 'messages.ndjson'), 'not a message\n')
      assert.equal((await refused('messages', 'export', target, '--channel', 'general'))[0], 1)
      await refused('messages', 'export', join(folder, 'new'), '--channel', 'no-such-channel')
      assert.ok(!existsSync(join(folder, 'new')))
    })

    test('refuses a folder that another export is writing to', async () => {
      const target = join(folder, 'shared')
      await natter('messages', 'export', target, '--channel', 'general')
      const lock = await lockStore(target)
      const [, stderr] = await refused('messages', 'export', target, '--channel', 'general')
      assert.match(stderr, /another export to \S+ is running/)
      await lock.release()
      await natter('messages', 'export', target, '--channel', 'general')
    })

    test('refuses to continue after the server was restored, where IDs mean other messages', async t => {
      const uuid = '01234567-89ab-cdef-0123-456789abcdef'
      const queues = [uuid, uuid.replace('0', '1'), `${uuid}-0a1b2c3d`]
      const deleted: string[] = []
      const url = await fakeServer(t, (request, response, body) => {
        const path = request.url!.split('?')[0]!
        if (request.method === 'DELETE')
          deleted.push(new URLSearchParams(body || request.url!.split('?')[1]).get('queue_id')!)
        if (path.endsWith('/register')) return answer(response, { result: 'success', queue_id: queues[deleted.length] })
        const messages = request.url!.includes('anchor=7')
          ? []
          : [{ id: 7, timestamp: 1, display_recipient: 'general', content: '' }]
        answer(response, { result: 'success', messages, found_newest: true })
      })
      const restored = join(folder, 'restored')
      const run = () => inProcess(['messages', 'export', restored], { env: { ...env, NATTER_SITE: url } })
      for (let n = 0; n < 2; n++) assert.equal((await run()).code, 0)
      const { code, stderr } = await run()
      assert.equal(code, 1)
      assert.match(
        stderr,
        /restored cannot be continued: the server was restored from a backup since\n +Choose another/,
      )
      assert.deepEqual(deleted, queues)
    })

    test('refuses a folder with a document that it did not write', async () => {
      const own = join(folder, 'own')
      mkdirSync(own)
      writeFileSync(join(own, 'messages.md'), 'mine')
      const [code, stderr] = await refused('messages', 'export', own, '--channel', 'general', '--format', 'md')
      assert.equal(code, 2)
      assert.match(stderr, /has a messages\.md that is not of an export/)
      assert.deepEqual(readdirSync(own), ['messages.md'])
      // Also beside an export without one.
      rmSync(join(own, 'messages.md'))
      await natter('messages', 'export', own, '--channel', 'general', '--skip-files')
      writeFileSync(join(own, 'messages.md'), 'mine')
      const [again] = await refused('messages', 'export', own, '--channel', 'general', '--skip-files', '--format', 'md')
      assert.equal(again, 2)
      assert.equal(readFileSync(join(own, 'messages.md'), 'utf8'), 'mine')
    })

    /** A server with one message that links to these files. */
    const serve = (t: TestContext, links: readonly string[], answerFile: RequestListener, wrong = {}) => {
      const content = links.map(link => `[f](/user_uploads/1/${link})`).join(' ')
      return fakeServer(t, (request, response) => {
        if (/^\/api\/v1\/(register|events)/.test(request.url!)) return answer(response, { result: 'success' })
        if (!request.url!.startsWith('/api/v1/messages')) return answerFile(request, response)
        const message = { id: 7, timestamp: 1, display_recipient: 'general', content, ...wrong }
        answer(response, { result: 'success', messages: [message], found_newest: true })
      })
    }

    const exportFrom = (url: string, out: string) =>
      inProcess(['messages', 'export', out], { env: { ...env, NATTER_SITE: url } })

    test('says which files it skips, and writes nothing outside of its folder', async t => {
      const links = ['gone.txt', 'page.txt', 'theirs.txt', '%2e%2e/%2e%2e/%2e%2e/evil.txt']
      const url = await serve(t, links, ({ url }, response) => {
        // The answers of public servers are pages.
        if (url!.includes('page')) response.writeHead(404).end('<p>This file does not exist.</p>')
        else if (url!.includes('theirs')) response.writeHead(403).end('<p>You are not authorized.</p>')
        else answer(response, { result: 'error', msg: 'There is no such file.', code: 'BAD_REQUEST' }, 404)
      })
      const out = join(folder, 'skipped')
      const { code, stderr } = await exportFrom(url, out)
      assert.equal(code, 0, stderr)
      assert.match(stderr, /skipped \/user_uploads\/1\/gone\.txt of message 7: There is no such file\./)
      assert.match(stderr, /skipped \S+page\.txt of message 7: the server answered 404/)
      assert.match(stderr, /skipped \S+theirs\.txt of message 7: the server answered 403/)
      assert.match(stderr, /skipped \S+evil\.txt of message 7: the path is not safe/)
      assert.match(stderr, /exported 1 message and 0 files to .+; skipped 4 files/)
      assert.equal(lines(out).length, 1)
    })

    test('names a message of the wrong form, and writes no line of it', async t => {
      for (const wrong of [{ timestamp: 1e300 }, { content: 5 }, { display_recipient: null }]) {
        const out = join(folder, `odd-${Object.keys(wrong)[0]}`)
        const { code, stderr } = await exportFrom(await serve(t, [], (_, response) => response.end(), wrong), out)
        assert.equal(code, 1)
        assert.match(stderr, /the server sent message 7 without an ID, a time, a conversation or a text/)
        assert.equal(readFileSync(join(out, 'messages.ndjson'), 'utf8'), '')
      }
    })

    test('ends at an error of the server that may pass, and the next run saves the file', async t => {
      const out = join(folder, 'passing')
      const failures: RequestListener[] = [
        (_, response) => answer(response, { result: 'error', msg: 'Internal error', code: 'INTERNAL_ERROR' }, 500),
        (_, response) => response.end('<html>Back soon</html>'),
        (_, response) => response.writeHead(401).end('<html>Log in</html>'),
        (_, response) => answer(response, { result: 'success', url: 'http://me:key@example.com/a' }),
      ]
      const left = [...failures]
      const url = await serve(t, ['ab/report.txt'], (request, response) => {
        const fail = left.shift()
        if (fail) fail(request, response)
        else if (request.url!.startsWith('/api/')) answer(response, { result: 'success', url: '/user_uploads/t/a' })
        else response.end('content')
      })
      for (const [index] of failures.entries()) {
        const { code, stderr } = await exportFrom(url, out)
        assert.deepEqual([code, lines(out)], [1, []], `${index}: ${stderr}`)
      }
      const { code, stderr } = await exportFrom(url, out)
      assert.equal(code, 0, stderr)
      assert.match(stderr, /exported 1 message and 1 file to \S+\n/)
      assert.equal(readFileSync(join(out, 'files/1/ab/report.txt'), 'utf8'), 'content')
    })

    test('skips links that cannot be files, and saves files with the longest names', async t => {
      const longest = `${'n'.repeat(251)}.txt`
      const links = [`ab/${longest}`, `${'a'.repeat(300)}/b`, 'ab/doc', 'ab/doc/x', `ab/${'ä'.repeat(200)}`]
      const url = await serve(t, links, (request, response) => {
        // It claims to have all of them.
        if (request.url!.startsWith('/api/')) return answer(response, { result: 'success', url: '/user_uploads/t/a' })
        response.end('content')
      })
      const out = join(folder, 'long')
      const { code, stderr } = await exportFrom(url, out)
      assert.equal(code, 0, stderr)
      assert.match(stderr, /exported 1 message and 2 files to .+; skipped 3 files/)
      assert.match(stderr, /skipped \S+\/doc\/x of message 7: cannot write \S+: (ENOTDIR|EEXIST)/)
      assert.deepEqual(readdirSync(join(out, 'files/1/ab')).sort(), ['doc', longest])
    })

    test('gives no file a name that steers a terminal, and neither does uploads download', async t => {
      const name = '%1b%5d0%3bx%07a%0ab%c2%9b%e2%80%ae.txt'
      const url = await serve(t, [`ab/${name}`], (request, response) =>
        request.url!.startsWith('/api/')
          ? answer(response, { result: 'success', url: '/user_uploads/t/a' })
          : response.end('content'),
      )
      const out = join(folder, 'steering')
      const { code, stderr } = await exportFrom(url, out)
      assert.equal(code, 0, stderr)
      const expected = ['-]0;x-a-b--.txt']
      assert.deepEqual(readdirSync(join(out, 'files/1/ab')), expected)
      const shell = newShell(t, { ...env, NATTER_SITE: url })
      assert.equal((await shell.run(['uploads', 'download', `/user_uploads/1/ab/${name}`])).code, 0)
      assert.deepEqual(readdirSync(shell.home), expected)
    })

    const hasModes = process.platform !== 'win32'
    test('makes everything for its owner alone, in a folder of others too', { skip: !hasModes }, async t => {
      const url = await serve(t, ['ab/report.txt'], (request, response) =>
        request.url!.startsWith('/api/')
          ? answer(response, { result: 'success', url: '/user_uploads/t/a' })
          : response.end('content'),
      )
      const out = join(folder, 'open')
      mkdirSync(out, { mode: 0o755 })
      const { code, stderr } = await exportFrom(url, out)
      assert.equal(code, 0, stderr)
      const names = readdirSync(out, { recursive: true }) as string[]
      assert.ok(names.includes('files/1/ab/report.txt'))
      for (const name of names) assert.equal(statSync(join(out, name)).mode & 0o077, 0, name)
    })

    test('makes no folder for a link to a file that does not exist', async () => {
      await natter('send', '#general>links', `/user_uploads/1/${'a'.repeat(300)}/b and /user_uploads/1/ab/none`)
      const out = join(folder, 'none')
      const { code, stderr } = await inProcess(['messages', 'export', out, '--narrow', 'topic:links'], { env })
      assert.equal(code, 0, stderr)
      assert.match(stderr, /exported 1 message and 0 files to .+; skipped 2 files/)
      assert.ok(!existsSync(join(out, 'files')))
    })

    test('continues after a message that is longer than what is read at first', async () => {
      await natter('send', '#general>long', 'one')
      await natter('send', '#general>long', 'two')
      const out = join(folder, 'long-lines')
      const narrowed = ['messages', 'export', out, '--narrow', 'topic:long']
      await natter(...narrowed)
      const file = join(out, 'messages.ndjson')
      const [one, two] = lines(out).map(line => JSON.stringify({ ...line, edit_history: 'x'.repeat(3_000_000) }))
      for (const rest of [`${two}\n`, two!.slice(0, -9)]) {
        writeFileSync(file, `${one}\n${rest}`)
        await natter(...narrowed)
        assert.deepEqual(
          lines(out).map(({ content }) => content),
          ['one', 'two'],
        )
      }
    })
  })
})
