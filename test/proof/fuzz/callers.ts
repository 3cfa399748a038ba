// The callers: owner, member, guest, bot and stranger, and one more member who may lose the account over it.

import { bots } from '../../../daemon/api/bots/bots.ts'
import type { Endpoint } from '../../../daemon/api/define.ts'
import { organization } from '../../../daemon/api/organization/organization.ts'
import { keys } from '../../../daemon/api/people/keys.ts'
import { users } from '../../../daemon/api/people/users.ts'
import { Caller, type TestDaemon } from '../../support/daemon.ts'
import type { HttpReply } from '../../support/http.ts'

export interface Lane {
  readonly caller: Caller
  /** What is left out, because the caller would lose the account or the organization. */
  readonly spares: readonly string[]
  /** Looks at an answer: the next call is made by what this returns. */
  readonly goOn?: (endpoint: Endpoint, reply: HttpReply) => Promise<Caller>
}

const endsAccount = [users.deactivateSelf.id, keys.regenerate.id]
const endsOrganization = organization.deactivate.id

export async function lanesOf(daemon: TestDaemon, round: number): Promise<Lane[]> {
  const { owner, anonymous } = daemon
  const amy = await login(daemon, 'amy@example.com')
  const guest = await login(daemon, 'guy@example.com')
  const { members } = await owner.call(users.list, {})
  const { user_id, email } = members.find(({ full_name, is_bot }) => is_bot && full_name === 'Echo Bot')!
  const { api_key } = await owner.call(bots.key, { bot_id: user_id })
  return [
    { caller: owner, spares: [...endsAccount, endsOrganization] },
    { caller: amy, spares: endsAccount },
    { caller: guest, spares: endsAccount },
    { caller: new Caller(daemon.url, email, api_key, user_id), spares: endsAccount },
    { caller: anonymous, spares: [] },
    await mortalLane(daemon, round),
  ]
}

async function login({ anonymous, url }: TestDaemon, username: string): Promise<Caller> {
  const { api_key, user_id } = await anonymous.call(keys.devFetch, { username })
  return new Caller(url, username, api_key, user_id)
}

/** The others may do anything to this account. When it has ended, it is brought back, or another takes its place. */
async function mortalLane(daemon: TestDaemon, round: number): Promise<Lane> {
  let made = 0
  const create = async (): Promise<Caller> => {
    const email = `mortal-${round}-${++made}@example.com`
    const reply = await daemon.owner.try(users.create, { email, full_name: `Mortal ${round} ${made}`, password })
    // The organization may have come to refuse new people; then a stranger makes the calls.
    return reply.body.result === 'success' ? login(daemon, email).catch(() => daemon.anonymous) : daemon.anonymous
  }
  let caller = await create()
  const goOn = async (endpoint: Endpoint, { status, body }: HttpReply): Promise<Caller> => {
    const isDone = body.result === 'success'
    if (isDone && endpoint.id === keys.regenerate.id)
      caller = new Caller(caller.url, caller.email, body.api_key, caller.id)
    const isOut =
      status === 401 || body.code === 'USER_DEACTIVATED' || (isDone && endpoint.id === users.deactivateSelf.id)
    if (isOut && caller.email !== undefined) {
      await daemon.owner.try(users.reactivate, { user_id: caller.id })
      if ((await caller.try(users.me, {})).status !== 200) caller = await create()
    }
    return caller
  }
  // Others can make it an owner.
  return { caller, spares: [endsOrganization], goOn }
}

const password = 'correct horse battery'
