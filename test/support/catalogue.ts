// The whole catalogue as a list, for the laws that hold for every endpoint.

import type { Endpoint, Page } from '../../daemon/api/define.ts'
import { catalogue, type ResourceName } from '../../daemon/api/index.ts'

export interface Entry {
  readonly resource: ResourceName
  readonly page: Page
  readonly key: string
  readonly endpoint: Endpoint
}

export async function catalogueEndpoints(): Promise<Entry[]> {
  const entries: Entry[] = []
  for (const [resource, page] of Object.entries(catalogue) as [ResourceName, Page][])
    for (const [key, endpoint] of Object.entries(await page.load())) entries.push({ resource, page, key, endpoint })
  return entries
}
