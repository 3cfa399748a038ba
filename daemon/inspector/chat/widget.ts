// Polls and to-do lists as text: a title, and a line for each option or task. Clients keep them in the submessages of a message.

import type { Message } from './records.ts'

type Parts = Message['submessages']

export interface Widget {
  readonly title: string
  readonly items: readonly { readonly key: string; readonly text: string }[]
}

/** Undefined for a message without either. Data that cannot be read is skipped, as clients do. */
export function readWidget([first, ...parts]: Parts): Widget | undefined {
  const { widget_type, extra_data } = parse(first?.content)
  if (widget_type === 'poll') return readPoll(extra_data, parts)
  if (widget_type === 'todo') return readTodo(extra_data, parts)
  return undefined
}

function readPoll(start: any, parts: Parts): Widget {
  let title = textOf(start?.question) || 'A poll without a question'
  const options = new Map<string, { readonly text: string; readonly voters: Set<number> }>()
  const add = (key: string, option: unknown) => {
    const text = textOf(option)
    if (text !== undefined && !options.has(key)) options.set(key, { text, voters: new Set() })
  }
  for (const [index, text] of [start?.options ?? []].flat().entries()) add(`canned,${index}`, text)
  for (const { sender_id, content } of parts) {
    const data = parse(content)
    if (data.type === 'question') title = textOf(data.question) ?? title
    else if (data.type === 'new_option') add(`${sender_id},${textOf(data.idx)}`, data.option)
    else if (data.type === 'vote') {
      const voters = options.get(data.key)?.voters
      if (data.vote === 1) voters?.add(sender_id)
      else voters?.delete(sender_id)
    }
  }
  const items = [...options].map(([key, { text, voters }]) => {
    return { key, text: `${text}: ${voters.size} ${voters.size === 1 ? 'vote' : 'votes'}` }
  })
  return { title, items }
}

function readTodo(start: any, parts: Parts): Widget {
  let title = textOf(start?.task_list_title) || 'Task list'
  const tasks = new Map<string, { readonly text: string; isDone: boolean }>()
  const add = (key: string, { task, desc, completed }: any) => {
    const [title, more] = [textOf(task), textOf(desc)]
    if (title === undefined || tasks.has(key)) return
    tasks.set(key, { text: more ? `${title}: ${more}` : title, isDone: completed === true })
  }
  for (const [index, task] of [start?.tasks ?? []].flat().entries()) add(`${index},canned`, task ?? {})
  for (const { sender_id, content } of parts) {
    const data = parse(content)
    if (data.type === 'new_task_list_title') title = textOf(data.title) ?? title
    else if (data.type === 'new_task') add(`${textOf(data.key)},${sender_id}`, data)
    else if (data.type === 'strike') {
      const task = tasks.get(data.key)
      if (task) task.isDone = !task.isDone
    }
  }
  const items = [...tasks].map(([key, { text, isDone }]) => ({ key, text: isDone ? `${text} (done)` : text }))
  return { title, items }
}

/** Senders choose the data, so a value need not have a text: String() throws for an object with a field `toString`. */
function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  return typeof value === 'number' ? String(value) : undefined
}

function parse(content: string | undefined): any {
  try {
    return JSON.parse(content ?? '{}') ?? {}
  } catch {
    return {}
  }
}
