// The content of a store for measuring messages, for the code that fills it and the code that reads it.

export interface Plan {
  readonly folder: string
  /** Besides the owner. */
  readonly subscribers: number
  readonly messages: number
  readonly topics: number
  /** Groups, each in the next one; the owner is in the innermost. */
  readonly nested?: number
}

export const channelName = 'load'

export function contentOf(n: number): string {
  return `Message number ${n}: the build of **branch ${n % 97}** is done, see the log when you have a minute. Thanks!`
}

/** The nth message as the store keeps it. */
export function messageOf(
  n: number,
  fixed: { id: number; senderId: number; channelId: number; time: number },
  topics: number,
) {
  const content = contentOf(n)
  return {
    ...fixed,
    topic: `topic ${n % topics}`,
    client: 'bench',
    content,
    html: `<p>${content.replace(/\*\*(.*)\*\*/, '<strong>$1</strong>')}</p>`,
    marks: 0,
  }
}
