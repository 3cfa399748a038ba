// Links from messages to uploaded files, which decide who may see a file.

import { limits } from '../limits.ts'
import type { AttachmentsRelinked } from '../model/facts/files.ts'
import type { Message } from '../model/message-store/index.ts'
import type { Attachment } from '../model/rows/messages.ts'
import type { State } from '../model/state.ts'
import { conflict } from '../refusal.ts'
import type { Announcement, ServerFacts } from '../resource.ts'
import { type Asker, isWebPublic, seeUpload } from '../rules/index.ts'

const prefix = '/user_uploads/'

export function attachmentUrl({ path }: Attachment): string {
  return prefix + path
}

/** The file at an address (`/user_uploads/…`), if the asker may see it. */
export function attachmentAt(asker: Asker, url: string): Attachment | undefined {
  const found = findAttachment(asker.state, url)
  return found && seeUpload.allows(asker, found) ? found : undefined
}

/** The same for callers without an account. */
export function attachmentOnTheWeb(state: State, url: string): Attachment | undefined {
  const found = findAttachment(state, url)
  return found && isWebPublic(state, found) ? found : undefined
}

function findAttachment({ attachments }: State, url: string): Attachment | undefined {
  const path = url.slice(prefix.length)
  return attachments.find('path', path) ?? attachments.find('path', decodedPath(path))
}

/** What a text by the asker changes of the links to files. A file the asker may not see is not shared by naming it. */
export function relink(
  asker: Asker,
  urls: readonly string[],
  { id, time }: Pick<Message, 'id' | 'time'>,
): AttachmentsRelinked[] {
  const before = asker.state.attachments.where('message', id).map(attachment => attachment.id)
  if (urls.length === 0 && before.length === 0) return []
  const seen = new Set(urls.map(url => attachmentAt(asker, url)?.id).filter(found => found !== undefined))
  const now = new Set([...seen].slice(0, limits.filesPerMessage))
  const linked = [...now].filter(found => !before.includes(found)).sort((a, b) => a - b)
  for (const found of linked) checkRoom(asker.state.attachments.get(found)!)
  const unlinked = before.filter(found => !now.has(found)).sort((a, b) => a - b)
  if (linked.length + unlinked.length === 0) return []
  return [{ type: 'attachments.relinked', messageId: id, time, linked, unlinked }]
}

/** A link that is left out would hide the file from people who read the message, without a word to its sender. */
function checkRoom({ name, messages }: Attachment): void {
  if (messages.length >= limits.messagesPerFile)
    throw conflict(
      'content',
      `${limits.messagesPerFile} messages share the file "${name}"; upload it again, and link that`,
    )
}

/** The asker's own files that no message links once this has happened. */
export function detachedBy({ state, actor }: Asker, { messageId, unlinked }: AttachmentsRelinked) {
  return unlinked
    .map(id => state.attachments.get(id)!)
    .filter(({ userId, messages }) => userId === actor.id && messages.every(({ id }) => id === messageId))
    .map(attachment => presentAttachment({ ...attachment, messages: [] }))
}

/** Files that these messages link, ascending. */
export function findAttachments(state: State, ids: readonly number[]): number[] {
  if (state.attachments.size === 0) return []
  const files = new Set<number>()
  for (const id of ids) for (const attachment of state.attachments.where('message', id)) files.add(attachment.id)
  return [...files].sort((a, b) => a - b)
}

export function countLinks({ attachments }: State, messageId: number): number {
  return attachments.count('message', messageId)
}

export function link({ attachments }: State, files: readonly number[], message: Attachment['messages'][number]): void {
  for (const id of files) {
    const attachment = attachments.get(id)!
    // Mostly a new message, which comes last.
    const at = attachment.messages.findLastIndex(({ id }) => id < message.id) + 1
    attachments.put({ ...attachment, messages: attachment.messages.toSpliced(at, 0, message) })
  }
}

export function unlink({ attachments }: State, files: readonly number[], messageIds: readonly number[]): void {
  const gone = new Set(messageIds)
  for (const id of files) {
    const attachment = attachments.get(id)!
    attachments.put({ ...attachment, messages: attachment.messages.filter(({ id }) => !gone.has(id)) })
  }
}

export function presentAttachment({ id, name, path, size, created, messages: all }: Attachment) {
  const messages = all.slice(-limits.messagesListedPerFile)
  return {
    id,
    name,
    path_id: path,
    size,
    create_time: Math.floor(created / 1000),
    messages: messages.map(message => ({ id: message.id, date_sent: message.time })),
    message_ids: messages.map(message => message.id),
  }
}

/** Tells the owner of a file what is known of it now. */
export function attachmentNews(state: State, op: 'add' | 'update', id: number): Announcement {
  const attachment = state.attachments.get(id)!
  const event = { type: 'attachment', op, attachment: presentAttachment(attachment) }
  return { to: [attachment.userId], event: { ...event, upload_space_used: sumSizes(state) } }
}

const used = new WeakMap<State, { readonly version: number; readonly bytes: number }>()

/** Bytes of all files of the organization. */
export function sumSizes(state: State): number {
  let known = used.get(state)
  if (known?.version !== state.attachments.version) {
    let bytes = 0
    for (const { size } of state.attachments.values()) bytes += size
    known = { version: state.attachments.version, bytes }
    used.set(state, known)
  }
  return known.bytes
}

/** Decodes a path, as files are named; a path that cannot be decoded stays as it is. */
export function decodedPath(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

/** Asked before a file is written: what is refused must not fill the disk. Pictures of people count as they come. */
export function checkQuota(state: State, { uploadQuotaMiB }: ServerFacts, bytes: number): void {
  if (uploadQuotaMiB !== undefined && sumSizes(state) + bytes > uploadQuotaMiB * 1024 ** 2)
    throw conflict('file', `the organization's uploads are limited to ${uploadQuotaMiB} MiB in total`, {
      code: 'REALM_UPLOAD_QUOTA',
    })
}
