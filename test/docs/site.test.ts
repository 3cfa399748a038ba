// The documentation as pages: what the build wrote, how the daemon serves it, and how it works in a browser.

import assert from 'node:assert/strict'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join, posix } from 'node:path'
import { describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { reference } from '../../cli/catalogue/reference.ts'
import { subcommandTable } from '../../cli/command-table.ts'
import { errorCodes } from '../../daemon/api/errors.ts'
import { eventTypes } from '../../daemon/api/event-types.ts'
import { splitByHeading, splitByRow } from '../../docs/site/split.ts'
import { inEachLook, violations } from '../support/axe.ts'
import { describeInBrowser } from '../support/browser.ts'
import { catalogueEndpoints } from '../support/catalogue.ts'
import { sharedDaemon } from '../support/daemon.ts'
import { send } from '../support/http.ts'
import { root } from '../support/sources.ts'
import { openSpace } from '../support/spaces.ts'

const folder = join(root, 'dist/site')
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(name => /\.\w+$/.test(name))
const pages = new Map(
  files.filter(name => name.endsWith('.html')).map(name => [name, readFileSync(join(folder, name), 'utf8')]),
)

/** The title of each page in a folder. */
function titlesIn(name: string): string[] {
  return [...pages]
    .filter(([path]) => path.startsWith(`${name}/`) && path !== `${name}/index.html`)
    .map(([, html]) => textOf(/<h1>(.*?)<\/h1>/s.exec(html)![1]!))
    .sort()
}

function textOf(html: string): string {
  return html.replace(/<[^>]*>/g, '').replaceAll('&amp;', '&')
}

describe('the pages of the documentation', () => {
  test('are one for each endpoint, subcommand, error and event', async () => {
    const all = (await catalogueEndpoints()).map(({ endpoint }) => endpoint)
    assert.deepEqual(titlesIn('api'), all.map(({ method, path }) => `${method} ${path}`).sort())
    const subcommands = (await reference(subcommandTable)).map(({ name }) => `natter ${name}`)
    assert.deepEqual(
      subcommands.filter(name => !titlesIn('cli').includes(name)),
      [],
    )
    assert.deepEqual(
      titlesIn('errors').filter(code => Object.hasOwn(errorCodes, code)),
      Object.keys(errorCodes).sort(),
    )
    assert.ok(titlesIn('control').length > 40)
    assert.deepEqual(titlesIn('events'), eventTypes.toSorted())
  })

  test('link only to pages and headings that exist', () => {
    const broken: string[] = []
    for (const [path, html] of pages)
      for (const [, href] of html.matchAll(/ (?:href|src)="([^"]*)"/g)) {
        if (/^https?:/.test(href!)) continue
        const [file, id] = href!.split('#') as [string, string?]
        const target = file === '' ? path : posix.join(posix.dirname(path), file)
        if (!files.includes(target)) broken.push(`${path}: ${href}`)
        else if (id !== undefined && !pages.get(target)!.includes(` id="${id}"`)) broken.push(`${path}: ${href}`)
      }
    assert.deepEqual(broken, [])
  })

  test('load nothing from elsewhere, and have no script or style inside', () => {
    for (const [path, html] of pages) {
      assert.doesNotMatch(html, /<(?:script|link|img)[^>]+(?:src|href)="(?:https?:)?\/\//, path)
      assert.doesNotMatch(html, /<script>|<style|\sstyle="|\son\w+="/, path)
    }
  })

  test('have at most 60 KB of script, compressed', () => {
    const scripts = files.filter(name => name.endsWith('.js.gz'))
    assert.equal(scripts.length, 2)
    const size = scripts.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)
    assert.ok(size <= 60_000, `${size} bytes`)
  })

  test('a reference is split at its headings, and code is left alone', () => {
    const text =
      '# All\n\nIntro.\n\n## users\n\nPeople.\n\n### GET /a\n\nFirst. More.\n\n```sh\n### GET /no\n```\n\n## Rest\n\nEnd.\n'
    const { overview, entries } = splitByHeading(text, title => title.startsWith('GET '))
    assert.deepEqual(entries, [
      { title: 'GET /a', group: 'users', about: 'First.', markdown: 'First. More.\n\n```sh\n### GET /no\n```' },
    ])
    assert.match(overview, /^# All\n\nIntro\.\n\n## users\n\nPeople\.\n\n\| Name .*\| First\. \|\n\n## Rest\n\nEnd\.$/s)
  })

  test('a table is split at its rows, and long cells become lists', () => {
    const text = '## Codes\n\n| Code | Meaning | Sent by |\n|---|---|---|\n| `A` | Why. | [x](x.md), [y](y.md) |\n'
    const { overview, entries } = splitByRow(text, 'Code', 2)
    assert.equal(overview, '## Codes\n\n| Code | Meaning |\n|---|---|\n| [`A`](#a) | Why. |\n')
    assert.equal(entries[0]!.markdown.replaceAll(/\n+/g, ' '), 'Why. ## Sent by - [x](x.md) - [y](y.md)')
  })
})

describe('the daemon serves the documentation', () => {
  const daemon = sharedDaemon({ flags: ['--memory', '--preset', 'dev'] })

  test('at /docs/, with types and a tag that spares a second answer', async () => {
    const { url } = daemon()
    const moved = await send(`${url}/docs`)
    assert.deepEqual([moved.status, moved.headers.location], [302, 'docs/'])
    for (const [path, type] of [
      ['', 'text/html; charset=utf-8'],
      ['api/', 'text/html; charset=utf-8'],
      ['api/post-messages.html', 'text/html; charset=utf-8'],
      ['style.css', 'text/css; charset=utf-8'],
      ['app.js', 'text/javascript; charset=utf-8'],
      ['search.json', 'application/json'],
      ['icon.svg', 'image/svg+xml'],
    ]) {
      const first = await send(`${url}/docs/${path}`)
      assert.deepEqual([first.status, first.headers['content-type']], [200, type], path)
      assert.equal(first.headers['cache-control'], 'no-cache')
      assert.match(String(first.headers['content-security-policy']), /default-src 'none'/)
      const again = await send(`${url}/docs/${path}`, { headers: { 'If-None-Match': String(first.headers.etag) } })
      assert.deepEqual([again.status, again.text], [304, ''], path)
    }
    const packed = await send(`${url}/docs/app.js`, { headers: { 'Accept-Encoding': 'gzip' } })
    assert.equal(packed.headers['content-encoding'], 'gzip')
  })

  test('below the path of a space', async () => {
    const space = await openSpace(daemon())
    assert.equal((await send(`${space.url}/docs/`)).status, 200)
    assert.equal((await send(`${space.url}/docs`)).headers.location, 'docs/')
  })

  test('and no file outside of its folder', async () => {
    for (const path of [
      'nothing.html',
      '../natterd.cjs',
      '..%2fnatterd.cjs',
      '%2e%2e/natterd.cjs',
      'api/..%2f..%2fnatterd.cjs',
      'app.js.gz',
      '.html',
      'api/a/b.html',
      'a%00.html',
      '%E0%A4%A.html',
    ]) {
      const { status, text } = await send(`${daemon().url}/docs/${path}`)
      assert.ok(status === 404 || status === 400, `${path}: ${status}`)
      assert.ok(!text.includes('<main'), path)
    }
  })

  test('by its name without .html, and a page that says where to look for one that there is not', async () => {
    const { url } = daemon()
    assert.equal((await send(`${url}/docs/bots`)).text, (await send(`${url}/docs/bots.html`)).text)
    const { status, headers, text } = await send(`${url}/docs/api/fly`)
    assert.deepEqual([status, headers['content-type']], [404, 'text/html; charset=utf-8'])
    assert.match(text, /<a href="\.\.\/">/)
  })
})

describeInBrowser('the documentation', open => {
  const daemon = sharedDaemon({ flags: ['--memory', '--preset', 'dev'] })
  const address = (path: string) => `${daemon().url}/docs/${path}`
  const result = '[role=option]'

  test('finds pages by keyboard, and asks no other server', async () => {
    const { page, errors, requests } = await open(address('index.html'))
    await page.keyboard.press('/')
    await page.keyboard.type('bad narrow')
    await page.locator(result).first().waitFor()
    assert.match(await page.locator(`${result}[aria-selected=true]`).innerText(), /BAD_NARROW/)
    await page.keyboard.press('ArrowDown')
    assert.equal(await page.locator(result).nth(1).getAttribute('aria-selected'), 'true')
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/errors/bad_narrow.html')
    await page.getByRole('link', { name: 'GET /messages', exact: true }).first().click()
    await page.waitForURL('**/api/get-messages.html')
    await page.keyboard.press('/')
    await page.keyboard.type('mesages qqqq')
    await page.locator(result).first().waitFor()
    await page.keyboard.press('Escape')
    assert.equal(await page.locator(result).first().isVisible(), false)
    await page.getByRole('combobox', { name: 'Search the documentation' }).fill('qqqq zzzz')
    await page.getByText('Nothing found for').waitFor()
    assert.deepEqual(
      requests.filter(url => !url.startsWith(`${daemon().url}/`)),
      [],
    )
    assert.deepEqual(errors, [])
  })

  test('keeps the theme from page to page', async () => {
    const { page, errors } = await open(address('index.html'), { colorScheme: 'light' })
    const ground = () => page.evaluate<string>('getComputedStyle(document.body).backgroundColor')
    const light = await ground()
    const button = page.getByRole('button', { name: /^Theme/ })
    await button.click()
    await button.click()
    assert.equal(await button.getAttribute('title'), 'Theme: dark')
    assert.notEqual(await ground(), light)
    await page.goto(address('cli/index.html'))
    assert.notEqual(await ground(), light)
    assert.deepEqual(errors, [])
  })

  test('lets an endpoint be tried with the sign-in of the inspector', async () => {
    const { page, errors } = await open(daemon().ready.inspector)
    await page.getByRole('link', { name: 'Documentation' }).click()
    await page.waitForURL('**/docs/')
    await page.goto(address('api/post-messages.html'))
    const form = page.getByRole('region', { name: 'Try it' })
    await form.getByLabel('Act as').selectOption({ label: 'Amy Adams (amy@example.com)' })
    const field = (name: string) => form.locator(`[name="${name}"]`)
    await field('type').selectOption('channel')
    await field('content').fill('Sent from the **documentation**')
    await form.getByText('optional parameters').click()
    await field('to').fill('general')
    await field('topic').fill('docs')
    await form.getByRole('button', { name: 'Send POST' }).click()
    await form.getByText('Status 200').waitFor()
    await page.goto(address('api/get-users-user_id.html'))
    await field('user_id').fill('99999')
    await form.getByRole('button', { name: 'Send GET' }).click()
    await form.getByText('Status 400').waitFor()
    await form.getByText('BAD_REQUEST').waitFor()
    await page.goto(address('control/post-clock-advance.html'))
    await field('by').fill('10m')
    await form.getByRole('button', { name: 'Send POST' }).click()
    await form.getByText('Status 200').waitFor()
    await page.goto(daemon().ready.inspector.replace(/#.*/, '#/conversations/channel/1'))
    await page.locator('.rendered strong', { hasText: 'documentation' }).first().waitFor()
    assert.deepEqual(errors, [])
  })

  test('lets an account sign in on the page of an endpoint', async () => {
    const { page, errors } = await open(address('api/get-users-me.html'))
    const form = page.getByRole('region', { name: 'Try it' })
    await form.getByLabel('Email').fill(daemon().owner.email!)
    await form.getByLabel('API key or password').fill(daemon().owner.key!)
    await form.getByRole('button', { name: 'Sign in' }).click()
    await form.getByRole('button', { name: 'Send GET' }).click()
    await form.getByText('Status 200').waitFor()
    await page.goto(address('control/get-clock.html'))
    await form.getByText('This endpoint needs the control token.').waitFor()
    assert.deepEqual(errors, [])
  })

  test('has no violation that axe finds, in light and dark, wide and narrow', async () => {
    const paths = ['index.html', 'api/index.html', 'api/post-messages.html', 'cli/index.html', 'cli/send.html']
    // Lists, tables and sections of references have hundreds of entries of one form. A look at all of them takes seconds.
    const repeated = (path: string) =>
      `li:nth-child(n+6), tr:nth-child(n+3)${path.endsWith('/index.html') ? ', h2 ~ h2 ~ h2 ~ h2 ~ *' : ''}`
    const excess = (page: Page) => page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
    const { page, errors } = await open(address('fixture.html'))
    for (const path of ['fixture.html', ...paths, 'errors/index.html', 'errors/bad_request.html']) {
      await page.goto(address(path))
      if (path === 'api/post-messages.html') await page.getByLabel('Email').waitFor()
      await inEachLook(page, async look => assert.ok((await excess(page)) <= 0, `${path} is too wide: ${look}`))
      await page.evaluate(`for (const entry of document.querySelectorAll('${repeated(path)}')) entry.remove()`)
      // All pages have the same top, in which the pages of a reference mark theirs.
      const except = path === 'api/index.html' ? [] : ['.top']
      await inEachLook(page, async look => assert.deepEqual(await violations(page, except), [], `${path} ${look}`))
    }
    await page.keyboard.press('/')
    await page.keyboard.type('message')
    await page.locator(result).first().waitFor()
    await inEachLook(page, async look => {
      assert.deepEqual(await violations(page), [], `the search ${look}`)
      assert.ok((await excess(page)) <= 0, `the results are too wide: ${look}`)
    })
    assert.deepEqual(errors, [])
  })
})
