// The name of a conversation as people read it, on the command line, in documents and in the inspector.

export interface Conversation {
  readonly channel?: string | undefined
  /** Shown if the name is not known. */
  readonly channelId?: number | undefined
  readonly topic?: string | undefined
  /** Participants of a direct conversation. */
  readonly people?: readonly { readonly email?: unknown; readonly full_name?: unknown }[] | undefined
}

/** As servers show it to clients that do not know it. */
const emptyTopic = 'general chat'

/** `#channel > topic`, or the users of a direct conversation without yourself; empty if it is neither. */
export function nameConversation({ channel, channelId, topic, people }: Conversation, self?: string): string {
  if (people) {
    const others = people.filter(({ email }) => email !== self)
    const names = (others.length > 0 ? others : people).map(({ full_name, email }) => String(full_name ?? email))
    return `@ ${names.join(', ')}`
  }
  if (channelId === undefined && channel === undefined) return ''
  const place = `#${channel ?? channelId}`
  return topic === undefined ? place : `${place} > ${topic || emptyTopic}`
}
