// A poll as text: its question, and its options with their votes. Clients keep them in the submessages of a message.

import type { Message } from './records.ts'

export interface Poll {
  readonly question: string
  readonly options: readonly { readonly key: string; readonly text: string; readonly votes: number }[]
}

/** Undefined for a message that is no poll. Data that cannot be read is skipped, as clients do. */
export function readPoll(submessages: Message['submessages']): Poll | undefined {
  const [first, ...parts] = submessages
  const { widget_type, extra_data } = parse(first?.content)
  if (widget_type !== 'poll') return undefined
  let question = String(extra_data?.question ?? '')
  const options = new Map<string, { readonly text: string; readonly voters: Set<number> }>()
  const add = (key: string, text: unknown) => {
    if (!options.has(key)) options.set(key, { text: String(text), voters: new Set() })
  }
  for (const [index, text] of [extra_data?.options ?? []].flat().entries()) add(`canned,${index}`, text)
  for (const { sender_id, content } of parts) {
    const data = parse(content)
    if (data.type === 'question') question = String(data.question)
    else if (data.type === 'new_option') add(`${sender_id},${data.idx}`, data.option)
    else if (data.type === 'vote') {
      const voters = options.get(data.key)?.voters
      if (data.vote === 1) voters?.add(sender_id)
      else voters?.delete(sender_id)
    }
  }
  return { question, options: [...options].map(([key, { text, voters }]) => ({ key, text, votes: voters.size })) }
}

function parse(content: string | undefined): any {
  try {
    return JSON.parse(content ?? '{}') ?? {}
  } catch {
    return {}
  }
}
