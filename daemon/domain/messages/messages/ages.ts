// Whether a message is too old to be edited, deleted or moved.

import { organizationSetting } from '../../model/settings.ts'
import type { Context } from '../../resource.ts'
import { seconds } from '../../values/time.ts'

/** Seconds that people get to finish what they began in time. */
export const grace = 20

export type Limit =
  | 'message_content_edit_limit_seconds'
  | 'message_content_delete_limit_seconds'
  | 'move_messages_within_stream_limit_seconds'
  | 'move_messages_between_streams_limit_seconds'

export function isOlder(ctx: Context, time: number, setting: Limit, extra = 0): boolean {
  const limit: unknown = organizationSetting(ctx.state, setting)
  return typeof limit === 'number' && limit >= 0 && seconds(ctx.now) - time > limit + extra
}
