// Uploaded files: kept beside the store, shared by linking them in a message.

import { sizeOf, type Upload } from '../../api/define.ts'
import { uploads as api } from '../../api/files/uploads.ts'
import { limits } from '../limits.ts'
import type { UploadFact } from '../model/facts/files.ts'
import type { Attachment } from '../model/rows/messages.ts'
import { invalid, missing, missingOwn } from '../refusal.ts'
import { resource } from '../resource.ts'
import {
  attachmentAt,
  attachmentNews,
  attachmentUrl,
  checkQuota,
  decodedPath,
  link,
  presentAttachment,
  sumSizes,
  unlink,
} from './attachments.ts'
import { detectContentType } from './content-types.ts'
import { imageDimensions } from './images.ts'
import { temporaryUrl } from './temporary-addresses.ts'

interface Prepared {
  readonly upload: { readonly file: string }
}

/** There is one organization, and this is its number in the addresses of files. */
const organizationId = 1
const mebibyte = 1024 * 1024

export const uploads = resource(api)<UploadFact, Prepared>({
  prepare: {
    async upload(tools, { file }, state) {
      checkSize(file)
      // Before anything is written: what is refused must not fill the disk.
      if (tools.server) checkQuota(state, tools.server, sizeOf(file))
      return { file: await tools.keepFile(file) }
    },
  },

  commands: {
    upload(ctx, { file: given }, { file }) {
      checkSize(given)
      checkQuota(ctx.state, ctx.server, sizeOf(given))
      const name = shortenName(given)
      const contentType = detectContentType(given)
      const token = ctx.random()
      const attachment: Attachment = {
        id: ctx.state.attachments.nextId,
        userId: ctx.actor.id,
        name,
        path: `${organizationId}/${token.slice(0, 2)}/${token}/${safeName(name)}`,
        file,
        size: sizeOf(given),
        contentType,
        ...(contentType.startsWith('image/') && imageDimensions(given.bytes)),
        created: ctx.now,
        messages: [],
      }
      const url = attachmentUrl(attachment)
      return { facts: [{ type: 'attachment.added', attachment }], reply: { uri: url, url, filename: name } }
    },

    temporary(ctx, { realm_id_str, filename }) {
      const attachment = attachmentAt(ctx, `/user_uploads/${realm_id_str}/${filename}`)
      if (!attachment) throw missingOwn('filename', 'file', filename)
      return { reply: { url: temporaryUrl(ctx, attachment) } }
    },

    thumbnail(ctx, { realm_id_str, filename }) {
      if (!attachmentAt(ctx, `/user_uploads/${realm_id_str}/${filename}`)) throw missing('filename', 'file', filename)
      return { reply: { has_thumbnail: false } }
    },

    list: ({ state, actor }) => ({
      reply: {
        attachments: state.attachments.where('user', actor.id).map(presentAttachment),
        upload_space_used: sumSizes(state),
      },
    }),

    remove({ state, actor }, { attachment_id: id }) {
      const attachment = state.attachments.get(id)
      if (attachment?.userId !== actor.id) throw missing('attachment_id', 'file of yours', id)
      return { facts: [{ type: 'attachment.removed', id, userId: actor.id }], dropped: [attachment.file], reply: {} }
    },
  },

  apply: {
    'attachment.added': (state, { attachment }) => state.attachments.put(attachment),
    'attachment.removed': (state, { id }) => state.attachments.remove(id),
    'attachments.relinked': (state, { messageId, time, linked, unlinked }) => {
      link(state, linked, { id: messageId, time })
      unlink(state, unlinked, [messageId])
    },
  },

  announce: {
    'attachment.added': (state, { attachment }) => [attachmentNews(state, 'add', attachment.id)],
    'attachment.removed': (state, { id, userId }) => [
      {
        to: [userId],
        event: { type: 'attachment', op: 'remove', attachment: { id }, upload_space_used: sumSizes(state) },
      },
    ],
    'attachments.relinked': (state, { linked, unlinked }) =>
      [...linked, ...unlinked].map(id => attachmentNews(state, 'update', id)),
  },
})

// --- limits and names -------------------------------------------------------------------------------------------

function checkSize(file: Upload): void {
  if (sizeOf(file) > limits.fileUploadMiB * mebibyte)
    throw invalid('file', `must be at most ${limits.fileUploadMiB} MiB`)
}

/** The name at the end of an address: letters and digits of every script, dots, dashes and underscores. */
function safeName(name: string): string {
  const plain = name
    .normalize('NFKC')
    .replace(/[^\p{L}\p{N}_\s.-]/gu, '')
    .trim()
    .replace(/[-\s]+/g, '-')
  return ['', '.', '..'].includes(plain) ? 'uploaded-file' : plain
}

/** The name as the user knows it: programs may send it percent-encoded. */
function shortenName({ filename }: Upload): string {
  const name = decodedPath(filename) || 'uploaded-file'
  if (name.length <= limits.fileName) return name
  const ending = /\.[^.]*$/.exec(name)?.[0].slice(0, limits.fileName) ?? ''
  return name.slice(0, limits.fileName - ending.length) + ending
}
