// Rows with recipients, for people: names in place of the IDs of a channel or of users.

import type { Account } from '../base/profile.ts'
import type { Reply } from '../base/reply.ts'
import { namesById } from '../input/names.ts'
import type { CallOptions } from '../transport/client.ts'

/** `#general`, or `Amy Adams, Bob Brown`. An ID without a name that this account can see stays an ID. */
export async function nameRecipients(
  rows: readonly Reply[],
  column: string,
  userNames: () => Promise<ReadonlyMap<number, string>>,
  account: Account,
  options: CallOptions,
): Promise<Reply[]> {
  const inChannel = ({ type }: Reply) => type === 'stream' || type === 'channel'
  const channels = rows.some(inChannel) ? await namesById('channel', account, options) : new Map<number, string>()
  const users = rows.some(row => !inChannel(row)) ? await userNames() : new Map<number, string>()
  return rows.map(row => {
    const ids = [row[column]].flat().map(Number)
    const names = ids.map(id => {
      const name = inChannel(row) ? channels.get(id) : users.get(id)
      return name === undefined ? `id:${id}` : inChannel(row) ? `#${name}` : name
    })
    return { ...row, [column]: names.join(', ') || null }
  })
}
