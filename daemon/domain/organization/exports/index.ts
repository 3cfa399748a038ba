// Data exports: archives of the organization, asked for here, written in the background (`daemon/io/exports.ts`), and fetched
// by their address.

import type { ParamsOf } from '../../../api/define.ts'
import { dataExports as api } from '../../../api/organization/exports.ts'
import { limits } from '../../limits.ts'
import type { ExportFact } from '../../model/facts/organization.ts'
import type { Export } from '../../model/rows/organization.ts'
import { userSetting } from '../../model/settings.ts'
import type { State } from '../../model/state.ts'
import { conflict, invalid, missing, Refusal } from '../../refusal.ts'
import { type Announcement, resource } from '../../resource.ts'
import { administrators } from '../../rules/audiences.ts'
import * as may from '../../rules/index.ts'
import { exportUrl } from './address.ts'
import { isHidden } from './content.ts'

const week = 7 * 86_400_000

export const dataExports = resource(api)<ExportFact>({
  commands: {
    create(ctx, { export_type }) {
      may.insist(may.administer, ctx)
      const kind = readKind(export_type)
      const { state, now, actor, server } = ctx
      checkRate(state, now)
      checkUsable(state, kind)
      const row: Export = { id: state.exports.nextId, userId: actor.id, kind, requested: now, status: 'pending' }
      return { facts: [{ type: 'export.requested', export: row, site: server.url }], reply: { id: row.id } }
    },

    list(ctx) {
      may.insist(may.administer, ctx)
      return { reply: { exports: listExports(ctx.state, ctx.server.url) } }
    },

    remove(ctx, { export_id: id }) {
      may.insist(may.administer, ctx)
      const row = ctx.state.exports.get(id)
      if (!row) throw missing('export_id', 'export', id)
      if (row.status !== 'done') throw conflict('export_id', notDone[row.status])
      const { now: time, server } = ctx
      return { facts: [{ type: 'export.deleted', id, time, site: server.url }], dropped: [row.file!], reply: {} }
    },

    consents(ctx) {
      may.insist(may.administer, ctx)
      const export_consents = []
      for (const user of ctx.state.users.values())
        if (user.active && !user.bot)
          export_consents.push({
            user_id: user.id,
            consented: userSetting(user, 'allow_private_data_export'),
            email_address_visibility: userSetting(user, 'email_address_visibility'),
          })
      return { reply: { export_consents } }
    },
  },

  apply: {
    'export.requested': (state, fact) => state.exports.put(fact.export),
    'export.finished'(state, { id, path, file }) {
      state.exports.put({ ...state.exports.get(id)!, status: 'done', path, file })
    },
    'export.failed'(state, { id, time }) {
      state.exports.put({ ...state.exports.get(id)!, status: 'failed', ended: time })
    },
    'export.deleted'(state, { id, time }) {
      const { file: _, path: _path, ...row } = state.exports.get(id)!
      state.exports.put({ ...row, status: 'deleted', ended: time })
    },
  },

  announce: {
    'export.requested': tellAdministrators,
    'export.finished': tellAdministrators,
    'export.failed': tellAdministrators,
    'export.deleted': tellAdministrators,
  },
})

const typeNames = { 1: 'public', 2: 'full_with_consent' } as const

/** Older levels number the types. */
function readKind(given: ParamsOf<typeof api.create>['export_type'] = 'public'): Export['kind'] {
  if (given === 'full_without_consent')
    throw invalid(
      'export_type',
      'must be public or full_with_consent: owners of this organization have no access to all content',
    )
  return given === 'public' || given === 1 ? 1 : 2
}

const notDone = {
  pending: 'the export is still in progress',
  failed: 'the export failed, so there is nothing to delete',
  deleted: 'the export is already deleted',
  prior: 'the export was made on another server, so there is nothing to delete here',
} as const

/** Each takes room on the disk, and work. Those that failed or were deleted count. */
function checkRate(state: State, now: number): void {
  let recent = 0
  for (const { requested, status } of state.exports.values()) if (requested > now - week && status !== 'prior') recent++
  if (recent >= limits.exportsPerWeek)
    throw new Refusal(`An organization can have at most ${limits.exportsPerWeek} exports in 7 days. Try again later.`, {
      kind: 'conflict',
    })
}

/** An archive without an owner who can log in could not become an organization again. */
function checkUsable(state: State, kind: Export['kind']): void {
  const owners = [...state.users.values()].filter(user => may.isOwner(user))
  const usable =
    kind === 1
      ? owners.some(owner => !isHidden(owner))
      : owners.some(owner => userSetting(owner, 'allow_private_data_export'))
  if (usable) return
  throw new Refusal(
    kind === 1
      ? 'At least one organization owner must let administrators see their email address before you can export.'
      : 'At least one organization owner must consent to the export before you can start it.',
    { kind: 'conflict' },
  )
}

/** The whole list every time. The addresses in it begin with what the server was called when it happened. */
function tellAdministrators(state: State, { site }: { readonly site: string }): Announcement[] {
  return [{ to: administrators(state), event: { type: 'realm_export', exports: listExports(state, site) } }]
}

function listExports(state: State, site: string) {
  return [...state.exports.values()].map(({ id, userId, kind, requested, status, ended, path }) => ({
    id,
    acting_user_id: userId,
    export_time: seconds(requested),
    deleted_timestamp: status === 'deleted' ? seconds(ended!) : null,
    failed_timestamp: status === 'failed' ? seconds(ended!) : null,
    export_url: path === undefined ? null : exportUrl(site, path),
    pending: status === 'pending',
    export_type: typeNames[kind],
    export_from_prior_server: status === 'prior',
  }))
}

function seconds(milliseconds: number): number {
  return Math.floor(milliseconds / 1000)
}
