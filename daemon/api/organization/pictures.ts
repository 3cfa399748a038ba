// The icon and the logos of the organization.

import { bool, endpoint, required, text, upload } from '../define.ts'

const night = required(bool, 'whether it is the logo for dark themes')

export const pictures = {
  uploadIcon: endpoint({
    id: 'upload-realm-icon',
    route: 'POST /realm/icon',
    callers: 'administrators',
    summary: 'Upload the icon of the organization: PNG, JPEG, GIF or WebP, at most 5 MiB (administrators)',
    params: { file: required(upload, 'the image') },
    reply: { icon_url: text },
    refusals: ['BAD_IMAGE', 'REALM_UPLOAD_QUOTA'],
    cli: {
      name: 'icon upload',
      done: 'changed the icon of the organization: {icon_url}',
      examples: ['natter icon upload acme.png', 'natter icon upload acme.png --json'],
      shows: 'icon_url',
    },
  }),
  deleteIcon: endpoint({
    id: 'delete-realm-icon',
    route: 'DELETE /realm/icon',
    callers: 'administrators',
    summary: 'Delete the icon of the organization and use the default one (administrators)',
    reply: { icon_url: text },
    cli: {
      name: 'icon delete',
      done: 'removed the icon of the organization: {icon_url}',
      examples: ['natter icon delete', 'natter icon delete --json'],
      shows: 'icon_url',
    },
  }),
  uploadLogo: endpoint({
    id: 'upload-realm-logo',
    route: 'POST /realm/logo',
    callers: 'administrators',
    summary: 'Upload a logo of the organization: PNG, JPEG, GIF or WebP, at most 5 MiB (administrators)',
    params: { night, file: required(upload, 'the image') },
    refusals: ['BAD_IMAGE', 'REALM_UPLOAD_QUOTA'],
    cli: {
      name: 'logo upload',
      done: 'changed the logo of the organization',
      args: ['file'],
      defaults: { night: false },
      examples: ['natter logo upload acme-wide.png', 'natter logo upload acme-dark.png --night'],
    },
  }),
  deleteLogo: endpoint({
    id: 'delete-realm-logo',
    route: 'DELETE /realm/logo',
    callers: 'administrators',
    summary: 'Delete a logo of the organization and use the default one (administrators)',
    params: { night },
    cli: {
      name: 'logo delete',
      args: [],
      done: 'removed the logo of the organization',
      defaults: { night: false },
      examples: ['natter logo delete', 'natter logo delete --night'],
    },
  }),
}
