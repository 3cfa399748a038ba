// Shapes of the replies, and of the file of an earlier pull, that a seed is made from. Anything else is refused.

import { misfitIn } from '../../../../daemon/api/checking.ts'
import {
  bool,
  eitherOf,
  int,
  keyed,
  listOf,
  maybe,
  nullable,
  num,
  record,
  type Static,
  text,
} from '../../../../daemon/api/define.ts'

const optionalText = maybe(nullable(text))
const ids = listOf(int)

const message = record({
  id: int,
  sender_id: int,
  subject: text,
  content: text,
  timestamp: num,
  reactions: listOf(record({ user_id: maybe(nullable(int)), emoji_name: text })),
})

const shapes = {
  organization: record({ name: optionalText, description: optionalText }),
  settings: keyed(eitherOf(text, num, bool)),
  people: listOf(
    record({
      user_id: int,
      email: text,
      delivery_email: optionalText,
      full_name: text,
      is_active: bool,
      is_bot: bool,
    }),
  ),
  groups: listOf(
    record({ id: int, name: text, description: optionalText, members: ids, direct_subgroup_ids: maybe(nullable(ids)) }),
  ),
  channels: listOf(record({ stream_id: int, name: text, description: optionalText })),
  subscribers: keyed(ids),
  messages: keyed(record({ list: listOf(message), complete: bool })),
}

type Parts = { [Part in keyof typeof shapes]: Static<(typeof shapes)[Part]> }
export type ReadMessage = Static<typeof message>

/** What is read of a server. Fields that are not checked are used only where they have the type that the API gives them. */
export interface Read extends Omit<Parts, 'people' | 'groups' | 'channels'> {
  people: (Parts['people'][number] & { bot_type?: number | null; bot_owner_id?: number | null; role?: number })[]
  groups: (Parts['groups'][number] & { is_system_group?: boolean; deactivated?: boolean })[]
  channels: (Parts['channels'][number] & {
    invite_only?: boolean
    is_web_public?: boolean
    is_default?: boolean
    history_public_to_subscribers?: boolean
  })[]
}

/** Where a part is not what a seed is made of; undefined if it is. */
export function wrongIn(part: keyof Read, value: unknown): string | undefined {
  return misfitIn(part, shapes[part], value)
}

/** The same for all parts that are there. */
export function wrongInAny(read: Readonly<Partial<Record<keyof Read, unknown>>>): string | undefined {
  const there = (Object.keys(shapes) as (keyof Read)[]).filter(part => read[part] !== undefined)
  return there.map(part => wrongIn(part, read[part])).find(wrong => wrong !== undefined)
}
