// The whole catalogue as a list, for the laws that hold for every endpoint.

import type { Endpoint, Page } from '../../daemon/api/define.ts'
import { catalogue } from '../../daemon/api/index.ts'

export interface Entry {
  readonly resource: keyof typeof catalogue
  readonly page: Page
  readonly key: string
  readonly endpoint: Endpoint
}

export async function catalogueEndpoints(): Promise<Entry[]> {
  const entries: Entry[] = []
  for (const [resource, page] of Object.entries(catalogue) as [Entry['resource'], Page][])
    for (const [key, endpoint] of Object.entries(await page.load())) entries.push({ resource, page, key, endpoint })
  return entries
}
