// Messages of the libraries about mistakes in the program that uses them: misspelled options, uncaught errors, a
// daemon that is never stopped.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import type { Event, GapEvent } from '../../daemon/client/index.ts'
import { type Natter, startNatter } from '../../daemon/testing/index.ts'
import { freePort } from '../support/free-port.ts'
import { until } from '../support/until.ts'

describe('startNatter', () => {
  test('refuses an option that does not exist, with a suggestion', async () => {
    await assert.rejects(startNatter({ preest: 'dev' } as never), {
      message: 'startNatter: there is no option "preest". Did you mean preset?',
    })
  })

  test('names the option that has a wrong value, and a port that is in use', async () => {
    await assert.rejects(startNatter({ preset: 'x' } as never), {
      message: "startNatter: preset takes empty or dev, not 'x'",
    })
    await assert.rejects(startNatter({ heartbeatSeconds: -1 }), /^TypeError: startNatter: heartbeatSeconds takes /)
    await using natter = await startNatter()
    const port = Number(new URL(natter.url).port)
    await assert.rejects(startNatter({ port }), {
      message: `startNatter: port ${port} is in use; choose another, or 0`,
    })
  })

  test('waits refuse what could never come, and say for whom nothing came', async () => {
    await using natter = await startNatter()
    const wrong: readonly (readonly [Promise<unknown>, string])[] = [
      [
        natter.waitFor('message' as never),
        "waitFor: give the fields of the event as an object, such as { type: 'message' }",
      ],
      [natter.waitFor({ type: 'mesage' }), 'waitFor: there is no event type "mesage". Did you mean message?'],
      [natter.waitFor({}, { withn: 1 } as never), 'waitFor: there is no option "withn". Did you mean within?'],
      [natter.waitForWebhook({ bot: 'eco-bot' }), 'bot: there is no account "eco-bot". Did you mean echo-bot?'],
      [natter.waitForCall({ endpiont: 'send-message' }), 'call: has no field "endpiont". Did you mean endpoint?'],
      [
        natter.waitForCall({ endpoint: 'send-mesage' }),
        'call: there is no endpoint "send-mesage". Did you mean send-message?',
      ],
      [
        natter.waitForCall({}, { user: 'amy' } as never),
        'waitForCall: there is no option "user". The options are within.',
      ],
      [
        natter.waitFor({ type: 'message' }, { user: 'cat', within: 0 }),
        'no event for cat matched {"type":"message"}. There was no event at all for cat.',
      ],
    ]
    for (const [wait, message] of wrong) await assert.rejects(wait, { message })
  })

  test('a daemon that is never stopped lets the process end, and is reported with its place', async () => {
    const { code, stdout, stderr } = await runScript(`
      import { startNatter } from '${library('testing')}'
      const natter = await startNatter()
      console.log((await natter.as('amy').users.me()).full_name)
      const later = natter.waitFor({ type: 'saved_snippets' }, { user: 'amy', within: '1m' })
      await natter.as('amy').savedSnippets.create({ title: 'a', content: 'b' })
      console.log((await later).saved_snippet.title)
      await natter.reset()`)
    assert.deepEqual([code, stdout], [0, 'Amy Adams\na\n'])
    assert.match(
      stderr,
      /^natter: a daemon was never stopped\. Call stop\(\) on what startNatter\(\) returned, at .*script\.mjs:3:/,
    )
  })

  test('a daemon that is stopped is not reported', async () => {
    const { code, stderr } = await runScript(`
      import { startNatter } from '${library('testing')}'
      await (await startNatter()).stop()`)
    assert.deepEqual([code, stderr], [0, ''])
  })
})

describe('natter/client', () => {
  test('an error that no one catches says in a few lines what was asked, what was answered and where', async () => {
    await using natter = await startNatter()
    const script = `
      import { createClient } from '${library('client')}'
      const client = createClient()
      await client.messages.send({ type: 'channel', to: 'nowhere', topic: 't', content: 'x' })`
    const { code, stderr } = await runScript(script, natter.env('amy'))
    assert.equal(code, 1)
    assert.match(
      stderr,
      /\n {2}asked: POST \/messages\n {2}answered: 400 STREAM_DOES_NOT_EXIST\n {4}at .*script\.mjs:4:/,
    )
    assert.ok(stderr.split('\n').length < 20 && stderr.length < 2000, stderr)
    assert.doesNotMatch(stderr, /client\.cjs/)
  })

  test('one about a lost answer says that the connection ended', async t => {
    const natter = await startNatter()
    t.after(() => natter.stop())
    natter.faults.add({ kind: 'drop-after-write', endpoint: 'create-saved-snippet', times: 1 })
    await assert.rejects(
      natter.as('amy').savedSnippets.create({ title: 'a', content: 'b' }),
      /cannot reach http:\S+: the connection ended before the answer was complete/,
    )
  })

  test('so does one about a server that does not answer', async () => {
    const url = `http://127.0.0.1:${await freePort()}`
    const script = `
      import { createClient } from '${library('client')}'
      const client = createClient({ retries: 0 })
      await client.users.me()`
    const { code, stderr } = await runScript(script, { NATTER_SITE: url })
    assert.equal(code, 1)
    const said = `NatterError: cannot reach ${url}: ECONNREFUSED\n  asked: GET /users/me\n  answered: nothing\n`
    assert.ok(stderr.includes(said), stderr)
    assert.match(stderr, /\n {4}at .*script\.mjs:4:/)
    assert.ok(stderr.split('\n').length < 20 && stderr.length < 2000, stderr)
  })

  test('so does one about a wrong use of a library, without the source line of the library', async () => {
    const client = `import { createClient } from '${library('client')}'\nconst client = () => createClient({ site: 'http://127.0.0.1:1' })`
    const testing = `import { startNatter } from '${library('testing')}'\n`
    const mistakes: readonly (readonly [string, RegExp])[] = [
      [
        `${client}\nsetTimeout(() => createClient())`,
        /no server is known: .* NATTER_API_KEY, .*natter env --as echo-bot/,
      ],
      [`${client}\nsetTimeout(() => createClient({ apiKey: 'key' }))`, /give `site`, the address of a server/],
      [`${client}\nsetTimeout(() => createClient({ site: 'http://[::1]', email: 'amy' }))`, /give `apiKey` too/],
      [`${client}\nsetTimeout(() => client().events({ types: ['mesage'] }))`, /there is no event type "mesage"/],
      [`${client}\nsetTimeout(() => client().request('GET', '/api/v1/users/me'))`, /path: write "\/users\/me"/],
      [`${client}\nsetTimeout(() => client().messages.sned({}))`, /there is no call "sned"\. Did you mean send\?/],
      [`${testing}\nsetTimeout(() => startNatter({ preest: 'dev' }))`, /there is no option "preest"/],
      [
        `${testing}const natter = await startNatter()\nsetTimeout(() => natter.clock.advance('soon'))`,
        /"soon" is not a time/,
      ],
      [
        `${testing}const natter = await startNatter()\nsetTimeout(() => natter.account('nosuch'))`,
        /user: there is no account "nosuch"\. The accounts are owner, /,
      ],
      [
        `${testing}const natter = await startNatter()\nsetTimeout(() => natter.runBot(() => {}, { as: 'ecko-bot' }))`,
        /as: there is no account "ecko-bot"\. Did you mean echo-bot\?/,
      ],
    ]
    for (const [script, message] of mistakes) {
      const { code, stderr } = await runScript(script)
      assert.equal(code, 1, stderr)
      assert.match(stderr, message)
      assert.match(stderr, /\n {4}at .*script\.mjs:3:/)
      assert.ok(stderr.split('\n').length < 30 && stderr.length < 2500, stderr)
    }
  })

  test('a part of a client, a field of a fault and a seed that do not exist are named, with a suggestion', async t => {
    const natter = await startNatter()
    t.after(() => natter.stop())
    const amy: any = natter.as('amy')
    assert.throws(() => amy.mesages, /^TypeError: there is no part of a client "mesages"\. Did you mean messages\?$/)
    assert.equal(amy.asymmetricMatch, undefined)
    assert.equal((await amy) === amy, true)
    assert.throws(
      () => natter.faults.add({ kind: 'rate-limit', endpont: 'x' } as never),
      /endpont: unknown parameter\. Did you mean endpoint\?$/,
    )
    await assert.rejects(
      natter.space({ seed: 'nosuch.yaml' }),
      /^TypeError: space: the seed nosuch\.yaml cannot be read: ENOENT$/,
    )
    await assert.rejects(
      startNatter({ seed: { chanels: [] } as never }),
      /^TypeError: startNatter: seed: chanels is unknown here/,
    )
  })

  test('an error of a space of another daemon has the line of the test', async t => {
    const natter = await startNatter()
    t.after(() => natter.stop())
    const remote = await startNatter({ in: natter.url, controlToken: natter.controlToken })
    t.after(() => remote.stop())
    for (const ask of [() => remote.as('zed'), () => remote.account('zed'), () => remote.restore('none')]) {
      const error = await ask().catch(error => error)
      assert.match(error.stack, /^NatterError: .*\n\s+at .*testing-mistakes\.test/s)
    }
  })

  test('events refuse types and options that do not exist, with a suggestion', async () => {
    await using natter = await startNatter()
    const amy = natter.as('amy')
    assert.throws(() => amy.events({ types: ['mesage'] as never }), {
      message: 'there is no event type "mesage". Did you mean message?',
    })
    assert.throws(() => amy.events({ type: ['message'] } as never), {
      message: 'client.events: there is no option "type". Did you mean types?',
    })
  })

  test('without gaps, only events of the types that were asked for come, a reset or not', async () => {
    await using natter = await startNatter()
    const stop = new AbortController()
    const heard: string[] = []
    let queues = 0
    const options = { types: ['message'], signal: stop.signal, onReady: () => queues++ } as const
    const reading = (async () => {
      // The loop of the docs: the type of `event` allows it.
      for await (const event of natter.as('amy').events(options)) heard.push(event.message.content)
    })()
    await until(() => queues === 1)
    await say(natter, 'one')
    await until(() => heard.length === 1)
    await natter.reset()
    await until(() => queues === 2)
    await say(natter, 'two')
    await until(() => heard.length === 2)
    stop.abort()
    await reading
    assert.deepEqual(heard, ['one', 'two'])
    // The compiler checks these: they are never called.
    const wrong = async (any: Event, orGap: Event<'message'> | GapEvent) => [
      // @ts-expect-error without types, an event need not be a message
      any.message.content,
      // @ts-expect-error with gaps, neither
      orGap.message.content,
    ]
    assert.equal(typeof wrong, 'function')
  })
})

function say(natter: Natter, content: string): Promise<unknown> {
  return natter.as('bob').messages.send({ type: 'channel', to: 'general', topic: 'gap', content })
}

/** The library as others get it. */
function library(name: 'client' | 'testing'): string {
  return pathToFileURL(join(import.meta.dirname, `../../dist/${name}.mjs`)).href
}

/** A program of its own, in plain JavaScript. */
async function runScript(code: string, env: Record<string, string> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'natter-script-'))
  try {
    writeFileSync(join(folder, 'script.mjs'), code)
    const child = spawn(process.execPath, ['script.mjs'], { cwd: folder, env: { PATH: process.env.PATH, ...env } })
    const [stdout, stderr, [exit]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
    return { code: exit, stdout, stderr }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
