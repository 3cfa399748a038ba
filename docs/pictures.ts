// npx tsx docs/pictures.ts: takes the pictures that the docs show: of a terminal, and of the inspector of a daemon after a minute of
// traffic. `npx tsx docs/pictures.ts terminal` needs no browser.

import { mkdirSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import type { Browser, Page } from 'playwright-core'
import { createClient } from '../daemon/client/index.ts'
import { findBrowser, launchBrowser } from '../test/support/browser.ts'
import { launch } from '../test/support/daemon.ts'
import { root } from './generate/sources.ts'
import { takeTerminalPicture } from './terminal-picture.ts'

const folder = join(root, 'docs/pictures')

/** Name of the picture, the view, and what to do there first. */
const views: readonly (readonly [string, string, ((page: Page) => Promise<unknown>)?])[] = [
  ['conversations', 'conversations/channel/1'],
  ['events', 'events', page => page.locator('.row', { hasText: 'Shall we eat' }).first().click()],
  ['calls', 'calls', page => page.locator('.row:has([data-bad=true])').first().click()],
  ['time', 'time'],
  ['world', 'world/groups'],
  // The charts begin when the page is opened.
  ['health', 'health', () => chat(40_000)],
]

/** What people say while the pictures are prepared. */
const talk = [
  'The branch is green.',
  'I am reading the changelog.',
  'Two notes are missing, I add them.',
  'Shall we tag it today?',
  'After lunch. The backup runs until one.',
  'Then I tell support.',
]

await takeTerminalPicture(join(folder, 'terminal.svg'))
if (process.argv.includes('terminal')) process.exit()

const program = findBrowser()
if (!program) throw new Error('no browser: set CHROME_PATH, or install chromium')
// In a process of its own: the memory in the pictures is that of a daemon.
const natter = await launch(mkdtempSync(join(tmpdir(), 'natter-pictures-')), { flags: ['--memory', '--preset', 'dev'] })
const controlToken = natter.ready.control_token!
const browser = await launchBrowser(program)
const listening = new AbortController()
try {
  for (const name of ['amy', 'bob', 'ada']) void listen(name)
  void listenSlowly('echo-bot').catch(() => {})
  mkdirSync(folder, { recursive: true })
  const page = await browser.newPage()
  await page.goto(`${natter.url}/#token=${controlToken}`)
  await chat(60_000)
  await makeTraffic()
  await leave(page)
  await takeAll(browser, 'dark', { width: 1280, height: 800 }, '-dark', ['conversations', 'events'])
  await takeAll(browser, 'light', { width: 360, height: 720 }, '-narrow', ['conversations', 'calls'])
  // Last, because the chat that health shows pushes older events out of sight.
  await takeAll(browser, 'light', { width: 1280, height: 800 }, '')
} finally {
  listening.abort()
  await browser.close()
  await natter.stop()
}

async function takeAll(
  from: Browser,
  colorScheme: 'light' | 'dark',
  viewport: { width: number; height: number },
  ending: string,
  only?: readonly string[],
): Promise<void> {
  const page = await from.newPage({ colorScheme, viewport, timezoneId: 'UTC', locale: 'en-GB' })
  await page.goto(`${natter.url}/#token=${controlToken}`)
  await page.getByRole('navigation', { name: 'Views' }).waitFor()
  for (const [name, view, prepare] of views) {
    if (only && !only.includes(name)) continue
    await page.evaluate(`location.hash = '#/${view}'`)
    await page.getByRole('heading', { level: 1 }).first().waitFor()
    await page.waitForTimeout(1500)
    await prepare?.(page)
    await page.waitForTimeout(800)
    await page.screenshot({ path: join(folder, `${name}${ending}.png`) })
  }
  await leave(page)
}

/** Closes a page, and its queue with it: the next pictures would show events that pile up for no client. */
async function leave(page: Page): Promise<void> {
  await page.close()
  await control('POST', '/queues/expire', { user: 'owner' })
}

/** A client with an event queue, as people have one. */
async function listen(name: string): Promise<void> {
  const client = await clientOf(name)
  for await (const _ of client.events({ signal: listening.signal }));
}

/** A client that is busy most of the time: events wait for it. */
async function listenSlowly(name: string): Promise<void> {
  const client = await clientOf(name)
  const { queue_id } = await client.request('POST', '/register', { event_types: ['message'] })
  for (let last = -1; !listening.signal.aborted; await setTimeout(9000)) {
    const { events } = await client.request('GET', '/events', { queue_id, last_event_id: last, dont_block: true })
    last = Math.max(last, ...(events as { id: number }[]).map(({ id }) => id))
  }
}

/** People read and write, with pauses between, so that times, durations and figures are those of a living server. */
async function chat(milliseconds: number): Promise<void> {
  const [amy, bob, ada] = await Promise.all(['amy', 'bob', 'ada'].map(clientOf))
  const end = Date.now() + milliseconds
  for (let turn = 0; Date.now() < end; turn++) {
    const person = [amy, bob, ada][turn % 3]!
    const content = talk[turn % talk.length]!
    await person.messages.send({ type: 'stream', to: 'general', topic: 'release', content })
    if (turn % 3 === 0) await person.request('GET', '/messages', { anchor: 'newest', num_before: 50, num_after: 0 })
    if (turn % 5 === 0) await person.request('POST', '/users/me/presence', { status: 'active' })
    await setTimeout(400 + ((turn * 7919) % 1700))
  }
}

async function makeTraffic(): Promise<void> {
  const [amy, ada, owner, mo] = (await Promise.all(['amy', 'ada', 'owner', 'mo'].map(clientOf))) as [
    Client,
    Client,
    Client,
    Client,
  ]
  const { id } = await amy.messages.send({
    type: 'stream',
    to: 'general',
    topic: 'lunch',
    content: 'Shall we eat at **noon**?\n\n* soup\n* bread and `cheese`',
  })
  await ada.request('POST', `/messages/${id}/reactions`, { emoji_name: 'heart' })
  await ada.messages.send({
    type: 'stream',
    to: 'general',
    topic: 'lunch',
    content: '> Shall we eat at noon?\n\nYes, and bring @**Mo Moderator** along.',
  })
  await mo.messages.send({ type: 'stream', to: 'general', topic: 'release', content: '```js\nconst answer = 42\n```' })
  await amy.messages.send({ type: 'direct', to: [2], content: 'Can you look at the deploy bot?' })
  await mo.request('POST', '/messages', { type: 'stream', to: 'nowhere', topic: 'x', content: 'y' }).catch(() => {})
  await amy.request('PATCH', '/realm', { name: 'Mine' }).catch(() => {})
  await owner.request('POST', '/scheduled_messages', {
    type: 'channel',
    to: 1,
    topic: 'release',
    content: 'Good morning! The release is today.',
    scheduled_delivery_timestamp: Math.floor(Date.now() / 1000) + 7200,
  })
  await control('POST', '/faults', { kind: 'rate-limit', endpoint: 'POST /messages', user: 'mo', times: 2, seconds: 3 })
  await mo
    .request('POST', '/messages', { type: 'stream', to: 'general', topic: 'lunch', content: 'too fast' })
    .catch(() => {})
}

type Client = ReturnType<typeof createClient>

async function clientOf(name: string): Promise<Client> {
  const { account } = await control('GET', `/accounts/${name}`)
  return createClient({ site: natter.url, email: account.email, apiKey: account.api_key })
}

async function control(method: string, path: string, body?: object): Promise<any> {
  const response = await fetch(`${natter.url}/control/v1${path}`, {
    method,
    headers: { Authorization: `Bearer ${controlToken}`, 'Content-Type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  return response.json()
}
