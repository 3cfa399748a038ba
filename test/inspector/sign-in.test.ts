// The inspector of a daemon without control plane, behind a reverse proxy that serves it below a path: signing in, and files
// in messages.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Page } from 'playwright-core'
import { settings } from '../../daemon/api/people/settings.ts'
import { describeInBrowser, type Opened } from '../support/browser.ts'
import { launch, type TestDaemon } from '../support/daemon.ts'
import { freePort } from '../support/free-port.ts'
import { pixel } from '../support/images.ts'
import { until } from '../support/until.ts'

const path = '/chat'
const password = 'correct horse battery staple'

/** Passes on what is below the path, without it; everything else is not found, so that an absolute address fails. */
async function startProxy(port: number): Promise<Server> {
  const proxy = createServer((incoming, outgoing) => {
    if (!incoming.url!.startsWith(`${path}/`)) {
      outgoing.writeHead(404).end()
      return
    }
    const { method, headers } = incoming
    const target = { host: '127.0.0.1', port, path: incoming.url!.slice(path.length), method, headers }
    const passed = request(target, answer => {
      outgoing.writeHead(answer.statusCode!, answer.headers)
      answer.pipe(outgoing)
    })
    passed.on('error', () => outgoing.destroy())
    outgoing.on('close', () => passed.destroy())
    incoming.pipe(passed)
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  return proxy
}

describeInBrowser('the inspector below a path, without control plane', (_, reuse) => {
  const data = mkdtempSync(join(tmpdir(), 'natter-test-'))
  let proxy: Server
  let daemon: TestDaemon
  let site: string
  before(async () => {
    const port = await freePort()
    proxy = await startProxy(port)
    site = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}${path}`
    daemon = await launch(data, { flags: ['--preset', 'dev', '--port', String(port), '--url', site] })
    await daemon.owner.call(settings.update, { new_password: password })
  })
  after(async () => {
    try {
      await daemon?.stop()
    } finally {
      daemon?.process.kill('SIGKILL')
      proxy?.close()
      proxy?.closeAllConnections()
      rmSync(data, { recursive: true, force: true })
    }
  })

  async function signIn(page: Page, secret: string): Promise<void> {
    await page.getByLabel('Email').fill(daemon.owner.email!)
    await page.getByLabel('API key or password').fill(secret)
    await page.getByRole('button', { name: 'Sign in' }).click()
  }

  async function openSignedIn(): Promise<Opened> {
    const opened = await reuse(daemon.ready.inspector)
    await opened.page.getByRole('button', { name: /^Sign (in|out)$/ }).waitFor()
    if (await opened.page.getByRole('button', { name: 'Sign in' }).isVisible())
      await signIn(opened.page, daemon.owner.key!)
    await opened.page.getByText('Hello, everyone!').waitFor()
    return opened
  }

  test('lets an account sign in with its password or its API key, and asks for nothing outside of the path', async () => {
    assert.equal(daemon.ready.inspector, `${site}/`)
    const { page, errors, requests } = await reuse(daemon.ready.inspector)
    for (const secret of [password, daemon.owner.key!]) {
      await signIn(page, 'not the password')
      await page
        .getByRole('alert')
        .filter({ hasText: /^The email address, or the API key or password, is wrong\.$/ })
        .waitFor()
      await signIn(page, secret)
      await page.getByText('Hello, everyone!').waitFor()
      assert.equal(await page.getByRole('navigation', { name: 'Views' }).getByRole('link').count(), 3)
      assert.equal(await page.getByLabel('Act as').count(), 0)
      await page.reload()
      await page.getByText('Hello, everyone!').waitFor()
      assert.deepEqual(
        requests.filter(url => !url.startsWith(`${site}/`) || url.includes(encodeURIComponent(secret))),
        [],
      )
      if (secret === password) await page.getByRole('button', { name: 'Sign out' }).click()
    }
    assert.deepEqual(errors, [])
  })

  test('gives the session to a new tab, unless the user signed out there', async () => {
    const { page } = await openSignedIn()
    const second = await page.context().newPage()
    await second.goto(daemon.ready.inspector)
    await second.getByText('Hello, everyone!').waitFor()
    await second.getByRole('button', { name: 'Sign out' }).click()
    await second.getByLabel('API key or password').waitFor()
    assert.equal(await page.getByText('Hello, everyone!').count(), 1)
    await second.close()
  })

  test('keeps the session while the daemon cannot answer, and forgets it when it is refused', async () => {
    const { page } = await openSignedIn()
    const alert = page.getByRole('alert')
    /** The answer to every call until the next one of these. */
    async function answerWith(status: number, msg: string): Promise<void> {
      await page.unrouteAll()
      const refusal = { result: 'error', msg, code: `HTTP_${status}` }
      await page.route(/\/(?:api|control)\/v1\//, route => route.fulfill({ status, json: refusal }))
    }
    /** What the page says, then the token or key that it goes on with. */
    async function reloadWith(status: number, msg: string): Promise<[says: string, kept: string | undefined]> {
      await answerWith(status, msg)
      await page.reload()
      const says = await alert.innerText()
      const kept = await page.evaluate<string>(`Object.values({ ...sessionStorage })[0] ?? '{}'`)
      const { token, account } = JSON.parse(kept)
      return [says, token ?? account?.api_key]
    }
    const busy = 'The daemon is starting.'
    assert.deepEqual(await reloadWith(503, busy), [busy, daemon.owner.key])
    assert.deepEqual(await reloadWith(429, busy), [busy, daemon.owner.key])
    await page.unrouteAll()
    await page.reload()
    await page.getByText('Hello, everyone!').waitFor()
    assert.deepEqual(await reloadWith(401, 'Invalid API key'), ['Invalid API key', undefined])

    await answerWith(503, busy)
    await page.getByText('Use a control token instead').click()
    await page.getByLabel('Control token').fill('abc')
    await page.getByRole('button', { name: 'Open' }).click()
    await alert.filter({ hasText: busy }).waitFor()
    assert.deepEqual(await reloadWith(503, busy), [busy, 'abc'])
    assert.deepEqual(await reloadWith(429, busy), [busy, 'abc'])
    const [says, kept] = await reloadWith(401, 'Invalid token')
    assert.match(says, /^The token is wrong\./)
    assert.equal(kept, undefined)
    await page.unrouteAll()
  })

  test('uploads a picture and a text, shows the picture in the message, and opens the text', async () => {
    const { page, errors } = await openSignedIn()
    await page.evaluate(`location.hash = '#/conversations/channel/1'`)
    await page.getByRole('heading', { name: '#general' }).waitFor()
    await page.getByLabel('Topic').fill('files')
    const text = page.getByRole('textbox', { name: 'Message' })
    const file = page.getByLabel('File', { exact: true })
    await file.setInputFiles({ name: 'dot.png', mimeType: 'image/png', buffer: pixel.png })
    await until(async () => (await text.inputValue()).includes('dot.png'))
    await file.setInputFiles({ name: 'note.txt', mimeType: 'text/plain', buffer: Buffer.from('a note') })
    await until(async () => (await text.inputValue()).includes('note.txt'))
    await text.press('Enter')
    const article = page.getByRole('article').filter({ hasText: 'note.txt' })
    await article.waitFor()
    await until(() => page.evaluate<boolean>(`document.querySelector('.rendered img')?.naturalWidth === 1`))
    const served = page.context().waitForEvent('response', answer => answer.url().includes('/user_uploads/temporary/'))
    await article.getByRole('link', { name: 'note.txt' }).click()
    const answer = await served
    assert.equal(answer.status(), 200)
    assert.ok(answer.url().startsWith(`${site}/`))
    assert.deepEqual(errors, [])
  })
})
