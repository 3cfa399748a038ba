// A real browser for tests of the inspector: the one of CHROME_PATH, or a Chromium on the PATH, the one without windows
// first, which takes half the processor time. Where there is none, the suite is skipped, unless NATTER_REQUIRE says that
// there must be one.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { accessSync, constants, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { after, afterEach, before, describe } from 'node:test'
import { pathToFileURL } from 'node:url'
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core'

const programs = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome', 'chrome']

/** A busy machine is slow; a test that passes does not wait. */
const browserTimeout = 180_000

export function findBrowser(env: NodeJS.ProcessEnv = process.env): string | undefined {
  if (env.CHROME_PATH) return env.CHROME_PATH
  const folders = (env.PATH ?? '').split(delimiter).filter(folder => folder !== '')
  return folders.flatMap(folder => programs.map(name => join(folder, name))).find(isProgram)
}

/** Set in a run with coverage, see test/coverage.ts. */
const coverageFolder = process.env.NODE_V8_COVERAGE

/** Whatever it starts with, no request leaves this machine. */
export function launchBrowser(executablePath: string): Promise<Browser> {
  const flags = '--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking'
  // Each process that a browser starts costs processor time: it draws and sends in its own.
  const fewProcesses = ['--renderer-process-limit=1', '--in-process-gpu', '--enable-features=NetworkServiceInProcess2']
  const more = ['--disable-component-update', '--disable-sync', '--disable-dev-shm-usage', ...fewProcesses]
  return chromium.launch({ executablePath, args: [...flags.split(' '), ...more], timeout: browserTimeout })
}

export interface Opened {
  readonly page: Page
  /** Errors of scripts and of the Content-Security-Policy. */
  readonly errors: string[]
  /** Addresses of every request. */
  readonly requests: string[]
  /** By path: after how many answers, one after the other, it was asked for, itself included. */
  readonly trips: ReadonlyMap<string, number>
}

/** Opens an address in a browser window of its own. */
export type Open = (address: string, options?: BrowserContextOptions) => Promise<Opened>

/** One browser for all suites of a process; the last of them closes it. */
let shared: Promise<Browser> | undefined
let suites = 0

/**
 * A suite of tests with a browser. The second function gives the window that tests of the suite share, in which the address was
 * opened once, with what was noted since the last test: loading a page takes most of a short test.
 */
export function describeInBrowser(name: string, suite: (open: Open, reuse: Open) => void): void {
  const program = findBrowser()
  const isRequired = (process.env.NATTER_REQUIRE ?? '').split(',').includes('chromium')
  const skip = program || isRequired ? false : 'no browser: set CHROME_PATH, or install chromium'
  describe(name, { skip }, () => {
    suites++
    let browser: Browser | undefined
    let reused: Opened | undefined
    before(async () => {
      assert.ok(program, 'NATTER_REQUIRE asks for chromium, and there is none: set CHROME_PATH, or install it')
      shared ??= launchBrowser(program)
      browser = await shared
    })
    // A page that is left open goes on polling. What a test that failed leaves in the shared window would fail the next.
    afterEach(async t => {
      // The types of this version of node leave it out.
      const { passed } = t as unknown as { readonly passed: boolean }
      if (!passed) reused = undefined
      await closeWindows(browser, reused?.page.context())
    })
    after(async () => {
      await closeWindows(browser)
      suites--
      if (suites > 0) return
      shared = undefined
      await browser?.close()
    })
    const open: Open = async (address, options = {}) => {
      const context = await browser!.newContext({ viewport: { width: 1280, height: 800 }, ...options })
      context.setDefaultTimeout(browserTimeout)
      const page = await context.newPage()
      const errors: string[] = []
      const requests: string[] = []
      page.on('pageerror', error => errors.push(String(error)))
      page.on('console', message => {
        if (message.type() === 'error' && /Content Security Policy|Uncaught/.test(message.text()))
          errors.push(message.text())
      })
      const trips = new Map<string, number>()
      let answered = 0
      page.on('request', request => {
        requests.push(request.url())
        const { pathname } = new URL(request.url())
        if (!trips.has(pathname)) trips.set(pathname, answered + 1)
      })
      page.on('requestfinished', request => {
        answered = Math.max(answered, trips.get(new URL(request.url()).pathname) ?? 0)
      })
      if (coverageFolder) await page.coverage.startJSCoverage({ resetOnNavigation: false })
      await page.goto(address)
      return { page, errors, requests, trips }
    }
    suite(open, async (address, options) => {
      for (const noted of [reused?.errors, reused?.requests]) noted?.splice(0)
      reused ??= await open(address, options)
      return reused
    })
  })
}

async function closeWindows(browser: Browser | undefined, except?: BrowserContext): Promise<void> {
  for (const context of browser?.contexts() ?? []) {
    if (context === except) continue
    for (const page of context.pages()) {
      await page.unrouteAll({ behavior: 'ignoreErrors' })
      await keepCoverage(page)
    }
    await context.close()
  }
}

/** Writes what the page ran of the inspector in the form in which node writes what a process ran. */
async function keepCoverage(page: Page): Promise<void> {
  if (!coverageFolder) return
  for (const { source, ...script } of await page.coverage.stopJSCoverage()) {
    if (!script.url.endsWith('/inspector/app.js')) continue
    const result = [{ ...script, url: pathToFileURL(join(import.meta.dirname, '../../dist/inspector/app.js')).href }]
    writeFileSync(join(coverageFolder, `coverage-page-${randomUUID()}.json`), JSON.stringify({ result }))
  }
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return true
  } catch {
    return false
  }
}
