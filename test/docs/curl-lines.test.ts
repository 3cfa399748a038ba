// Every curl line of the API reference and of the control plane is sent, each to an organization of its own, founded from the preset dev.

import assert from 'node:assert/strict'
import { exec } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { baseOf, type Endpoint } from '../../daemon/api/define.ts'
import { byRoute } from '../../docs/generate/sample-values.ts'
import { curlLines, sampleOf } from '../../docs/generate/samples.ts'
import { loadCatalogue, loadControlPages } from '../../docs/generate/sources.ts'
import { Control } from '../support/control.ts'
import { sharedDaemon } from '../support/daemon.ts'
import { openSpace } from '../support/spaces.ts'

const resources = [...(await loadCatalogue()), ...(await loadControlPages())]
const endpoints = resources.flatMap(resource => resource.endpoints)
const tried = endpoints.filter(endpoint => endpoint.served !== 'outgoing' && !sampleOf(endpoint).needs)
const daemon = sharedDaemon({ flags: ['--memory', '--preset', 'dev'] })
const folder = mkdtempSync(join(tmpdir(), 'natter-curl-'))
writeFileSync(join(folder, 'report.txt'), 'All is well.')
after(() => rmSync(folder, { recursive: true, force: true }))

test('nine of ten curl lines work as they are printed; the others say what they need', () => {
  assert.ok(tried.length > endpoints.length * 0.85, `${tried.length} of ${endpoints.length}`)
})

test('every sample is one of an endpoint', () => {
  const routes = new Set(endpoints.map(({ method, path }) => `${method} ${path}`))
  assert.deepEqual(
    Object.keys(byRoute).filter(route => !routes.has(route)),
    [],
  )
})

describe('the curl line of', { concurrency: 4 }, () => {
  for (const endpoint of tried.filter(one => !isOfSpaces(one)))
    test(`${endpoint.method} ${baseOf(endpoint)}${endpoint.path} works`, async () => {
      const { url, owner, token } = await openSpace(daemon())
      await follow(endpoint, url, owner.email!, owner.key!, token)
    })
})

/** Spaces have no spaces, so these lines go to the daemon. */
describe('the curl line about spaces of', () => {
  for (const endpoint of tried.filter(isOfSpaces))
    test(`${endpoint.method} ${baseOf(endpoint)}${endpoint.path} works`, async () => {
      const { url, ready } = daemon()
      await follow(endpoint, url, ready.owner.email, ready.owner.api_key, ready.control_token!)
      await new Control(daemon()).try('DELETE', '/spaces/worker-1')
    })
})

function isOfSpaces(endpoint: Endpoint): boolean {
  return endpoint.access === 'control' && endpoint.path.startsWith('/spaces')
}

/** Sends the lines with the variables that `natter env` sets. */
async function follow(endpoint: Endpoint, site: string, email: string, key: string, token: string): Promise<void> {
  const env = { NATTER_SITE: site, NATTER_EMAIL: email, NATTER_API_KEY: key, NATTER_CONTROL_TOKEN: token }
  const { code, output } = await run(curlLines(endpoint, endpoints), env)
  assert.equal(code, 0, output)
}

function run(lines: readonly string[], variables: Record<string, string>): Promise<{ code: number; output: string }> {
  // A refusal ends the script.
  const script = `set -e\ncurl() { command curl --fail --max-time 60 "$@"; }\n${lines.join('\n')}`
  return new Promise(resolve => {
    exec(script, { cwd: folder, env: { ...process.env, ...variables } }, (error, stdout, stderr) =>
      resolve({ code: Number(error?.code ?? 0), output: `${lines.join('\n')}\n${stdout}${stderr}` }),
    )
  })
}
