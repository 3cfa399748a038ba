// Natter's own version, set into the bundle by the build.

import { createRequire } from 'node:module'

declare const NATTER_VERSION: string | undefined

export function version(): string {
  if (typeof NATTER_VERSION === 'string') return NATTER_VERSION
  return (createRequire(import.meta.url)('../../package.json') as { version: string }).version
}
