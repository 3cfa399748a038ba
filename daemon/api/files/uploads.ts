// Uploaded files: upload, temporary addresses that need no key, list and delete.

import {
  bool,
  endpoint,
  inPath,
  int,
  listOf,
  milliseconds,
  natural,
  record,
  required,
  since,
  text,
  until,
  upload,
} from '../define.ts'

export const attachment = record({
  id: int,
  name: text,
  path_id: text,
  size: int,
  create_time: milliseconds,
  messages: until(472, listOf(record({ id: int, date_sent: int }))),
  message_ids: since(472, listOf(int)),
})

export const uploads = {
  upload: endpoint({
    id: 'upload-file',
    route: 'POST /user_uploads',
    summary: 'Upload a file; a message that links to it shares it',
    params: { file: required(upload, 'the file, in a multipart body') },
    reply: { uri: text, url: text, filename: text },
    refusals: ['REALM_UPLOAD_QUOTA'],
    cli: {
      name: 'uploads create',
      done: 'uploaded {filename}: {url}',
      examples: ['natter uploads create report.pdf', 'natter uploads create photo.jpg --json'],
      shows: 'url',
    },
  }),
  temporary: endpoint({
    id: 'get-file-temporary-url',
    route: 'GET /user_uploads/{realm_id_str}/{filename...}',
    summary: 'Get a temporary URL of a file that needs no key and is valid for one minute',
    params: {
      realm_id_str: inPath(natural, 'ID of the organization, as in the URL of the file'),
      filename: inPath(text, 'the rest of the path of the file'),
    },
    reply: { url: text },
    cli: {
      name: 'uploads url',
      examples: [
        'natter uploads url /user_uploads/1/4f/0a9c5b1e/report.pdf',
        'natter uploads url 1 4f/0a9c5b1e/report.pdf',
      ],
    },
  }),
  thumbnail: endpoint({
    id: 'check-thumbnail-status',
    route: 'GET /thumbnail/status/{realm_id_str}/{filename...}',
    since: 479,
    summary: 'Check whether an uploaded image has thumbnails; natter makes none',
    params: {
      realm_id_str: inPath(natural, 'ID of the organization, as in the URL of the file'),
      filename: inPath(text, 'the rest of the path of the file'),
    },
    reply: { has_thumbnail: bool },
    cli: {
      name: 'uploads thumbnail',
      examples: [
        'natter uploads thumbnail /user_uploads/1/4f/0a9c5b1e/photo.jpg',
        'natter uploads thumbnail 1 4f/0a9c5b1e/photo.jpg',
      ],
    },
  }),
  list: endpoint({
    id: 'get-attachments',
    route: 'GET /attachments',
    summary: 'List the files you uploaded',
    reply: { attachments: listOf(attachment), upload_space_used: int },
    cli: {
      name: 'uploads list',
      examples: ['natter uploads list', 'natter uploads list --json'],
      shows: 'attachments',
      columns: ['id', 'path_id', 'create_time', 'size', 'name'],
    },
  }),
  remove: endpoint({
    id: 'remove-attachment',
    route: 'DELETE /attachments/{attachment_id}',
    since: 179,
    summary: 'Delete a file you uploaded; links to it in messages stop working',
    params: { attachment_id: inPath(int, 'the file') },
    cli: {
      name: 'uploads delete',
      done: 'deleted upload {attachment_id}',
      examples: ['natter uploads delete 1', 'natter uploads delete 1 --json'],
    },
  }),
}
