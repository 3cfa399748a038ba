// zulip-js, which replaces a global of its process. Tests in the same process use it, so it is put back after the test.

import { createRequire } from 'node:module'
import type { TestContext } from 'node:test'

export function loadZulipJs(t: TestContext): (config: object) => Promise<any> {
  const { FormData } = globalThis
  t.after(() => Object.assign(globalThis, { FormData }))
  return createRequire(import.meta.url)('zulip-js')
}
