// Single objects as older levels had them; `changes.ts` says where they occur.

import { at } from './change.ts'

interface Attachment {
  readonly create_time: number
  /** Absent in the event that it is gone. */
  readonly messages?: readonly { readonly id: number; readonly date_sent: number }[]
}

export function inMilliseconds(attachment: Attachment): Attachment {
  if (!attachment.messages) return attachment
  const messages = attachment.messages.map(({ id, date_sent }) => ({ id, date_sent: date_sent * 1000 }))
  return { ...attachment, create_time: attachment.create_time * 1000, messages }
}

const exportNumbers: Readonly<Record<string, number>> = { public: 1, full_with_consent: 2, full_without_consent: 2 }

export const withExportNumber = at('export_type', (type: string) => exportNumbers[type])

/** The form that the state keeps is the older one. */
export function recentView(view: string): string {
  return view === 'recent_topics' ? 'recent' : view
}

export function withRecentView(event: { property: string; value: unknown }) {
  return event.property === 'web_home_view' ? { ...event, value: recentView(event.value as string) } : event
}

/** The server has the picture, as if it were uploaded. */
export function asUpload(source: string): string {
  return source === 'J' ? 'U' : source
}

export const goneFromBots = ['api_key', 'avatar_url', 'bot_type', 'email', 'full_name', 'is_active', 'owner_id']

interface BotEvent {
  readonly op: string
  readonly bot: Readonly<Record<string, unknown>>
}

/** null where nothing is left to say. */
export function withoutAccount(event: BotEvent): BotEvent | null {
  const left = Object.entries(event.bot).filter(([name]) => !goneFromBots.includes(name))
  if (event.op === 'update' && left.length < 2) return null
  return { ...event, bot: Object.fromEntries(left) }
}
