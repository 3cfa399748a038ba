// A message as facts and snapshots hold it. The store keeps it packed; this is what goes in and comes out.

import type { SavedDetails, SavedMessage } from '../rows/messages.ts'

export type { Edit, Reaction, Submessage } from '../rows/messages.ts'

export type Message = Omit<SavedMessage, 'details'> & { readonly details?: Details }

/** What the content was found to be when it was rendered. */
export const marks = { link: 1, image: 2, attachment: 4, me: 8, channelWildcard: 16, topicWildcard: 32 } as const

export type Details = SavedDetails & {
  /** Content as it is since the last edit; inside the store only. */
  readonly text?: { readonly content: string; readonly html: string }
}

export function isEmpty(details: object): boolean {
  for (const _ in details) return false
  return true
}
