// Messages by ID, if the caller may read or change them.

import { missing } from '../../refusal.ts'
import { type Asker, seeMessage } from '../../rules/index.ts'

/** One answer for all that cannot be read: what there is must not be found out by trying. */
export function checkVisible(asker: Asker, id: number): number {
  if (!seeMessage.allows(asker, id)) throw missing('message_id', 'message', id)
  return id
}

/** The same for changes: nothing changes in an archived channel, where messages are only read. */
export function checkChangeable(asker: Asker, id: number): number {
  checkVisible(asker, id)
  const { channelId } = asker.state.messages.place(id).thread
  // OPEN: answered as if the message were not there.
  if (asker.state.channels.get(channelId)?.archived) throw missing('message_id', 'message', id)
  return id
}
