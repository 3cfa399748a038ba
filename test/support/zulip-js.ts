// zulip-js, which replaces a global of its process. Tests in the same process use it, so `restore` has to be called afterwards.

import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)

export function loadZulipJs(): { readonly zulip: (config: object) => Promise<any>; restore(): void } {
  const { FormData } = globalThis
  const zulip = require('zulip-js')
  // Only the first time it does so itself.
  Object.assign(globalThis, { FormData: createRequire(require.resolve('zulip-js'))('isomorphic-form-data') })
  return { zulip, restore: () => void Object.assign(globalThis, { FormData }) }
}
