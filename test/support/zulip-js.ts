// zulip-js, which replaces globals of its process. Tests in the same process use them, so they are put back after the test.

import { createRequire } from 'node:module'
import type { TestContext } from 'node:test'

export function loadZulipJs(t: TestContext): (config: object) => Promise<any> {
  const { fetch, FormData, Headers, Request, Response } = globalThis
  t.after(() => Object.assign(globalThis, { fetch, FormData, Headers, Request, Response }))
  return createRequire(import.meta.url)('zulip-js')
}
