// Calls of the control plane: finds the daemon and its token. Also what `--as` means: the control plane knows the keys of
// all accounts.

import { didYouMean } from '../../daemon/local/did-you-mean.ts'
import { exitCodes, Failure, usage } from '../base/failure.ts'
import type { Globals } from '../base/globals.ts'
import { accountFor, demandControlToken } from '../base/profile.ts'
import type { Reply } from '../base/reply.ts'
import { type CallOptions, call, type Request } from './client.ts'

interface ControlRequest {
  readonly method: string
  /** From the root of the site: `/control/v1/clock`. */
  readonly path: string
  readonly body?: object | undefined
}

export interface ControlledAccount {
  readonly user_id: number
  readonly email: string
  readonly full_name: string
  readonly api_key: string
}

export async function callControlPlane(
  globals: Partial<Globals>,
  { method, path, body }: ControlRequest,
  options: CallOptions = {},
): Promise<Reply> {
  const account = accountFor(globals, process.env)
  const token = demandControlToken(globals, process.env, account)
  return call(account, buildRequest({ method, path, body }, token), options)
}

/** The call as it is sent. */
export function buildRequest({ method, path, body }: ControlRequest, token: string): Request {
  return {
    method,
    path,
    fields: new Map(),
    authorization: `Bearer ${token}`,
    ...(body && { body: { type: 'application/json', bytes: Buffer.from(JSON.stringify(body)) } }),
  }
}

/** By name, email address or user ID. A refusal names the flag that named it. */
export async function findAccount(globals: Partial<Globals>, name: string, flag?: string): Promise<ControlledAccount> {
  const path = `/control/v1/accounts/${encodeURIComponent(name.replace(/^id:/, ''))}`
  const options = { timeout: globals.timeout }
  try {
    return (await callControlPlane(globals, { method: 'GET', path }, options)).account as ControlledAccount
  } catch (error) {
    if (!(error instanceof Failure) || error.exit !== exitCodes.notFound) throw error
    const { accounts } = await callControlPlane(globals, { method: 'GET', path: '/control/v1/accounts' }, options)
    const names = (accounts as ControlledAccount[]).map(({ email }) => email.split('@', 1)[0]!)
    // With few of them, not by a subcommand: the daemon of `natter exec` has ended when the user reads this.
    const all = names.length > 12 ? 'Run `natter accounts` to see all of them.' : `There is ${names.join(', ')}.`
    const hint = didYouMean(name, names) ?? all
    const message = `${flag ? `${flag}: ` : ''}there is no account "${name}"`
    throw new Failure(error.exit, message, { hint, cause: error })
  }
}

/** The flags with the account that `--as` names in place of any other. */
export async function actAs(globals: Globals): Promise<Globals> {
  const { as: name, ...others } = globals
  if (name === undefined) return globals
  if (globals.user !== undefined || globals.apiKey !== undefined)
    throw usage('--as cannot be combined with --user or --api-key')
  const { site } = accountFor(globals, process.env)
  const { email, api_key: apiKey } = await findAccount(globals, name, '--as')
  return { ...others, ...(site && { site }), user: email, apiKey }
}
