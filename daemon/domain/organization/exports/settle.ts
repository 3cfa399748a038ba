// The end of an export: with an archive, or without one. Decided when it has been written.

import { directNotice } from '../../messages/notices/post.ts'
import type { Export } from '../../model/rows/organization.ts'
import { organizationSetting } from '../../model/settings.ts'
import type { Outcome, Surroundings } from '../../resource.ts'

/** An export that was not reset, restored or finished meanwhile. By the row itself: the ID and the time may be those of another one. */
export function isWaiting({ state }: Pick<Surroundings, 'state'>, row: Export): boolean {
  return state.exports.get(row.id) === row
}

/** The archive is beside the store; the person who asked for it gets a message. */
export function finishExport(ctx: Surroundings, row: Export, file: string): Outcome<object> {
  if (!isWaiting(ctx, row)) return { dropped: [file], reply: {} }
  const name = `${slug(organizationSetting(ctx.state, 'name'))}-${stamp(row.requested)}.tar.gz`
  const path = `exports/1/${ctx.random()}/${name}`
  const site = ctx.server.url
  const asker = ctx.state.users.get(row.userId)
  const notice = asker?.active ? directNotice(ctx, [asker.id], completed) : []
  return { facts: [...notice, { type: 'export.finished', id: row.id, path, file, site }], reply: {} }
}

const completed = 'Your data export is complete. [View and download exports](/#organization/data-exports-admin).'

export function failExport(ctx: Surroundings, row: Export): Outcome<object> {
  if (!isWaiting(ctx, row)) return { reply: {} }
  return { facts: [{ type: 'export.failed', id: row.id, time: ctx.now, site: ctx.server.url }], reply: {} }
}

/** The organization's name as a part of a file name. */
function slug(name: string): string {
  const plain = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
  return `${plain || 'natter'}-export`
}

function stamp(time: number): string {
  return new Date(time).toISOString().slice(0, 19).replaceAll(':', '-')
}
