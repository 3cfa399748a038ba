// `fetch` for an account with limits, for programs that call the server through `natter/client`. What a limit rules out is answered like a
// refusal of the server.

import { readText } from '../../daemon/client/sender.ts'
import { Failure } from '../base/failure.ts'
import type { Account } from '../base/profile.ts'
import { loadGuard, requireSites } from '../transport/client.ts'

/** As options of a client; none for an account without limits. */
export async function fetchOptions(account: Account): Promise<{ readonly fetch?: typeof fetch }> {
  const guard = await loadGuard(account)
  if (!guard) return {}
  const sites = requireSites(account)
  const limited = async (input: string | URL | globalThis.Request, init: RequestInit = {}) => {
    const address = String(input)
    const site = sites.find(site => address.startsWith(`${site}/`)) ?? ''
    const path = address.slice(site.length)
    const { method = 'GET', body } = init
    const form = body instanceof URLSearchParams || body instanceof FormData ? [...body] : []
    const texts = form.filter((field): field is [string, string] => typeof field[1] === 'string')
    try {
      await guard.check({ method, path, form: texts, opaque: typeof body === 'string' })
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      const msg = `${error.message}. ${error.hint ?? ''}`.trim()
      return Response.json({ result: 'error', msg, code: error.code }, { status: error.http ?? 403 })
    }
    const response = await fetch(input, init)
    const { status, headers } = response
    if (!/^\/api\/v1\/(events|register)/.test(path)) return response
    return new Response(await guard.filter(path, await readText(response)), { status, headers })
  }
  return { fetch: limited }
}
