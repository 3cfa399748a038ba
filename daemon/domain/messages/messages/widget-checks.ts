// Checks widgets: the data of polls and to-do lists, and the widgets that a program sends.

import { inQuotes, invalid, Refusal } from '../../refusal.ts'

type Data = Readonly<Record<string, unknown>>
type Check = (value: unknown) => boolean

const isText: Check = value => typeof value === 'string'
const isIndex: Check = value => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 1000

interface Part {
  /** The fields beside `type`. */
  readonly fields: Readonly<Record<string, Check>>
  readonly authorOnly?: true
}

const polls: Readonly<Record<string, Part>> = {
  vote: { fields: { key: isText, vote: value => value === 1 || value === -1 } },
  question: { fields: { question: isText }, authorOnly: true },
  new_option: { fields: { option: isText, idx: isIndex } },
}

const todoLists: Readonly<Record<string, Part>> = {
  new_task: { fields: { key: isIndex, task: isText, desc: isText, completed: value => typeof value === 'boolean' } },
  strike: { fields: { key: isText } },
  new_task_list_title: { fields: { title: isText }, authorOnly: true },
}

const widgets: Readonly<Record<string, typeof polls>> = { poll: polls, todo: todoLists }

/** Checks data that is added to a widget, by the type of the widget. Other widgets take any data. */
export function checkWidgetData(widget: string | undefined, data: unknown, isAuthor: boolean): void {
  const parts = widget !== undefined && Object.hasOwn(widgets, widget) ? widgets[widget]! : undefined
  if (!parts) return
  if (!isData(data) || typeof data.type !== 'string') throw invalid('content', 'must be an object with a type')
  const part = Object.hasOwn(parts, data.type) ? parts[data.type]! : undefined
  if (!part) throw invalid('content', `${inQuotes(data.type)} is not a type of data of this widget`)
  if (part.authorOnly && !isAuthor)
    throw new Refusal('Only the author of a widget can change its question or title.', { kind: 'forbidden' })
  checkFields('content', data, { type: isText, ...part.fields })
}

/** Checks a widget that is sent with a message: a form of choices, which is the only kind that programs can send. */
export function checkWidget(content: unknown): void {
  const name = 'widget_content'
  if (!isData(content)) throw invalid(name, 'must be an object')
  const { widget_type, extra_data } = content
  if (!isData(extra_data)) throw invalid(name, 'must have widget_type and extra_data, an object')
  if (widget_type !== 'zform') throw invalid(name, 'the only widget_type is "zform"')
  if (extra_data.type !== 'choices') throw invalid(name, 'the only type of extra_data is "choices"')
  checkHas(name, extra_data, { heading: isText, choices: Array.isArray })
  for (const choice of extra_data.choices as unknown[]) {
    if (!isData(choice)) throw invalid(name, 'each choice must be an object')
    checkHas(name, choice, { short_name: isText, long_name: isText, reply: isText })
  }
}

function isData(value: unknown): value is Data {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function checkFields(name: string, data: Data, fields: Readonly<Record<string, Check>>): void {
  checkHas(name, data, fields)
  const other = Object.keys(data).find(key => !Object.hasOwn(fields, key))
  if (other !== undefined) throw invalid(name, `${inQuotes(other)} is not a field of this data`)
}

function checkHas(name: string, data: Data, fields: Readonly<Record<string, Check>>): void {
  for (const [key, check] of Object.entries(fields))
    if (!check(data[key])) throw invalid(name, `${inQuotes(key)} is missing or not what it should be`)
}
