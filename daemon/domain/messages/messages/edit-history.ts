// Limits the size of the history of a message: every page that shows the message and every snapshot has all of it.

import { limits } from '../../limits.ts'
import type { Details, Message } from '../../model/message-store/index.ts'
import { conflict } from '../../refusal.ts'
import type { Context } from '../../resource.ts'

/** Characters that a part of a message takes beside its texts: the names of its fields, an ID, a time. */
export const charactersPerPart = 200

/** Refuses another version of a message whose earlier versions take all the room. */
export function checkRoomForEdit({ details }: Message): void {
  if (historySize(details) < limits.messageHistory) return
  throw conflict(
    'message_id',
    `the earlier versions of this message have more than ${limits.messageHistory} characters; send a new message instead`,
  )
}

/** Moves have room of their own, so that edits by its author cannot keep a message from being moved. */
export function checkRoomForMove({ state }: Context, ids: readonly number[]): void {
  const full = ids.find(id => historySize(state.messages.details(id)) >= 2 * limits.messageHistory)
  if (full === undefined) return
  throw conflict(
    'message_id',
    `message ${full} has been moved too often to be moved again; delete it, or leave it there`,
  )
}

function historySize(details: Details | undefined): number {
  let size = 0
  for (const { prevContent = '', prevHtml = '', prevTopic = '', topic = '' } of details?.edits ?? [])
    size += charactersPerPart + prevContent.length + prevHtml.length + prevTopic.length + topic.length
  return size
}
