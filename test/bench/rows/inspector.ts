// The inspector: what a browser loads, and whether a long list scrolls without missing frames.

import { spawnSync } from 'node:child_process'
import { readFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { findBrowser, launchBrowser } from '../../support/browser.ts'
import { busyMilliseconds } from '../../support/busy-time.ts'
import { authorization, natterd, request, root, startDaemon, startServer } from '../processes.ts'
import { alternate, type Effort, NotInstalled, type Row, type Sample } from '../row.ts'

/** Bytes. */
const largest = 80 * 1024

export const inspector: readonly Row[] = [
  {
    name: 'inspector, bytes compressed with gzip',
    reference: '80 KiB',
    goal: { atMost: 1.2 },
    unit: 'bytes',
    measure: async () => [{ ours: compressedSize(), reference: largest }],
  },
  {
    name: 'natterd start with the inspector, --memory --preset dev',
    reference: 'a build without it',
    goal: { atMost: 1.02 },
    unit: 'ms of processor time',
    measure: starting,
  },
  {
    name: 'inspector, frames missed while 10,000 events scroll',
    reference: 'one frame in 20',
    // Headless browsers on a shared machine miss frames that have nothing to do with the page.
    goal: { atMost: 1, informative: true },
    unit: 'frames',
    measure: scrolling,
  },
]

function compressedSize(): number {
  const files = ['index.html', 'app.js', 'app.css'].map(name => join(root, 'dist/inspector', `${name}.gz`))
  return files.reduce((sum, file) => sum + statSync(file).size, 0)
}

/** Inside node_modules, so that nothing has to ignore it and packages are found. */
const bareFolder = 'node_modules/.cache/natter-without-inspector'

/** Processor time of the main thread: a difference of 2 % is less than what other processes do to a clock on the wall. */
async function starting(effort: Effort): Promise<Sample[]> {
  const args = ['--import', 'tsx', 'build.ts', '--without-inspector', bareFolder]
  const { status } = spawnSync(process.execPath, args, { cwd: root, stdio: ['ignore', 2, 2] })
  if (status !== 0) throw new Error('the daemon could not be built without the inspector')
  const start = async (program: string) => {
    const server = await startServer([program, '--memory', '--preset', 'dev', '--port', '0', '--no-profile', '--json'])
    await request(`${server.ready.url}/api/v1/users/me`, { Authorization: authorization(server.ready) })
    const busy = busyMilliseconds(server.ready.pid)
    await server.stop()
    return busy
  }
  try {
    return await alternate(
      effort.rounds(25, 7),
      () => start(natterd),
      () => start(join(root, bareFolder, 'bin/natterd')),
    )
  } finally {
    rmSync(join(root, bareFolder), { recursive: true, force: true })
  }
}

/** Scrolls for some seconds; a frame that took more than one and a half intervals of the display was missed. */
const scroll = readFileSync(new URL('../references/scroll-frames.js', import.meta.url), 'utf8')

async function scrolling(effort: Effort): Promise<Sample[]> {
  const program = findBrowser()
  if (!program) throw new NotInstalled('no browser: set CHROME_PATH, or install chromium')
  const daemon = await startDaemon(['--memory', '--preset', 'dev', '--no-profile'])
  const browser = await launchBrowser(program)
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
    await page.route('**/control/v1/live?**', async route => {
      const response = await route.fetch()
      const body = await response.json()
      const event = (n: number) => ({
        id: n + 1,
        time: body.clock.now,
        to: [2],
        position: n,
        queues: [],
        event: { type: 'message', n },
      })
      const isFirst = new URL(route.request().url()).searchParams.get('events') === '0'
      const list = isFirst ? Array.from({ length: 10_000 }, (_, n) => event(n)) : []
      Object.assign(body, { events: list, events_cursor: 10_000 })
      await route.fulfill({ response, json: body })
    })
    await page.goto((daemon.ready as { inspector?: string }).inspector!)
    await page.evaluate(`location.hash = '#/events'`)
    await page.getByText('10,000 of 10,000').waitFor()
    const samples: Sample[] = []
    for (let round = 0; round < effort.rounds(5, 1); round++) {
      const { missed, all } = await page.evaluate<{ missed: number; all: number }>(scroll)
      samples.push({ ours: missed, reference: all / 20 })
    }
    return samples
  } finally {
    for (const context of browser.contexts())
      for (const page of context.pages()) await page.unrouteAll({ behavior: 'ignoreErrors' })
    await browser.close()
    await daemon.stop()
  }
}
