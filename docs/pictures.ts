// npx tsx docs/pictures.ts: takes the pictures that the docs show: of a terminal, and of the inspector with a little traffic and a frozen
// clock, so that two runs differ in nothing but what was changed. `npx tsx docs/pictures.ts terminal` needs no browser.

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { createClient } from '../daemon/client/index.ts'
import { startNatter } from '../daemon/testing/index.ts'
import { findBrowser, launchBrowser } from '../test/support/browser.ts'
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
  ['health', 'health', page => page.waitForTimeout(6000)],
]

await takeTerminalPicture(join(folder, 'terminal.svg'))
if (process.argv.includes('terminal')) process.exit()

const program = findBrowser()
if (!program) throw new Error('no browser: set CHROME_PATH, or install chromium')
const natter = await startNatter({ preset: 'dev', clock: new Date('2030-03-04T09:30:00Z'), secret: 'pictures' })
const browser = await launchBrowser(program)
try {
  mkdirSync(folder, { recursive: true })
  await makeTraffic()
  await takeAll(browser, 'light', { width: 1280, height: 800 }, '')
  await takeAll(browser, 'dark', { width: 1280, height: 800 }, '-dark', ['conversations', 'events'])
  await takeAll(browser, 'light', { width: 360, height: 720 }, '-narrow', ['conversations', 'calls'])
} finally {
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
  await page.goto(`${natter.url}/#token=${natter.controlToken}`)
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
  await page.close()
}

async function makeTraffic(): Promise<void> {
  const { accounts } = await natterAccounts()
  const as = (name: string) => {
    const { email, api_key } = accounts.find(account => account.email.startsWith(`${name}@`))!
    return createClient({ site: natter.url, email, apiKey: api_key })
  }
  const [amy, ada, owner, mo] = [as('amy'), as('ada'), as('owner'), as('mo')]
  const { id } = await amy.messages.send({
    type: 'stream',
    to: 'general',
    topic: 'lunch',
    content: 'Shall we eat at **noon**?\n\n* soup\n* bread and `cheese`',
  })
  await ada.request('POST', `/messages/${id}/reactions`, { emoji_name: 'thumbs_up' })
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
    scheduled_delivery_timestamp: 1_898_937_000,
  })
  await control('POST', '/faults', { kind: 'rate-limit', endpoint: 'POST /messages', user: 'mo', times: 2, seconds: 3 })
  await mo
    .request('POST', '/messages', { type: 'stream', to: 'general', topic: 'lunch', content: 'too fast' })
    .catch(() => {})
}

async function natterAccounts(): Promise<{ accounts: { email: string; api_key: string }[] }> {
  return control('GET', '/accounts')
}

async function control(method: string, path: string, body?: object): Promise<any> {
  const response = await fetch(`${natter.url}/control/v1${path}`, {
    method,
    headers: { Authorization: `Bearer ${natter.controlToken}`, 'Content-Type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  return response.json()
}
