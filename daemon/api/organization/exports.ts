// Data exports: archives of the organization, and who allows theirs to hold private data.

import {
  bool,
  eitherOf,
  endpoint,
  formerly,
  inPath,
  int,
  listOf,
  maybe,
  named,
  nullable,
  oneOf,
  optional,
  record,
  seconds,
  since,
  text,
  userId,
} from '../define.ts'

const dataExport = record({
  id: int,
  acting_user_id: userId,
  export_time: seconds,
  deleted_timestamp: nullable(seconds),
  failed_timestamp: nullable(seconds),
  export_url: nullable(text),
  pending: bool,
  export_type: formerly(449, int, text),
  export_from_prior_server: maybe(bool),
})

export const dataExports = {
  create: endpoint({
    id: 'export-realm',
    route: 'POST /export/realm',
    callers: 'administrators',
    summary: 'Start an export of the organization (administrators); a realm_export event reports its end',
    concerns: 'everywhere',
    params: {
      export_type: optional(
        eitherOf(oneOf('public', 'full_with_consent', 'full_without_consent'), oneOf(1, 2)),
        'public data only (the default), or also the private data of people who allow it',
        { earlier: { until: 449, shape: named({ public: 1, consented: 2 }) } },
      ),
    },
    reply: { id: int },
    cli: {
      name: 'exports create',
      flags: { export_type: 'type' },
      examples: ['natter exports create', 'natter exports create --type 1'],
      shows: 'id',
    },
  }),
  list: endpoint({
    id: 'get-realm-exports',
    route: 'GET /export/realm',
    callers: 'administrators',
    summary: 'List the exports of the organization (administrators)',
    concerns: 'everywhere',
    reply: { exports: listOf(dataExport) },
    cli: {
      name: 'exports list',
      examples: ['natter exports list', 'natter exports list --json'],
      columns: ['id', 'export_time', 'export_type', 'pending', 'export_url'],
    },
  }),
  remove: endpoint({
    id: 'delete-realm-export',
    route: 'DELETE /export/realm/{export_id}',
    callers: 'administrators',
    summary: 'Delete the archive of an export (administrators)',
    params: { export_id: inPath(int, 'the export') },
    cli: {
      name: 'exports delete',
      done: 'deleted export {export_id}',
      examples: ['natter exports delete 1', 'natter exports delete 1 --json'],
    },
  }),
  consents: endpoint({
    id: 'get-realm-export-consents',
    route: 'GET /export/realm/consents',
    callers: 'administrators',
    since: 295,
    summary: 'List who allows the export of their private data (administrators)',
    reply: {
      export_consents: listOf(record({ user_id: userId, consented: bool, email_address_visibility: since(430, int) })),
    },
    cli: {
      name: 'exports consents',
      examples: ['natter exports consents', 'natter exports consents --json'],
      columns: ['user_id', 'consented'],
    },
  }),
}
