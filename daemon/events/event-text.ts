// The text of an event as queues keep it: JSON without its opening brace. Every queue numbers its events by itself, so the ID is
// written in front of a text that all queues share. No other file knows this form.

declare const form: unique symbol

/** An event as text; only the functions below may look inside. */
export type EventText = string & { readonly [form]: true }

export function writeEvent(event: object): EventText {
  return JSON.stringify(event).slice(1) as EventText
}

export function readEvent(text: EventText): Record<string, any> {
  return JSON.parse(`{${text}`)
}

/** Whether it is an event of the type; `addFields` can hide it. */
export function hasType(text: EventText, type: string): boolean {
  return text.startsWith(`"type":"${type}"`)
}

/** The same event with more fields, at least one. */
export function addFields(fields: object, text: EventText): EventText {
  return `${JSON.stringify(fields).slice(1, -1)},${text}` as EventText
}

/** The event as JSON, with its ID in one queue. */
export function numberEvent(id: number, text: EventText): string {
  return `{"id":${id},${text}`
}

export const heartbeat = writeEvent({ type: 'heartbeat' })
