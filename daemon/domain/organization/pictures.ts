// The icon and the logos of the organization: files beside the store, announced to everyone.

import { sizeOf, type Upload } from '../../api/define.ts'
import { pictures as api } from '../../api/organization/pictures.ts'
import { checkQuota } from '../files/attachments.ts'
import { checkImage } from '../files/images.ts'
import { limits } from '../limits.ts'
import type { PictureFact } from '../model/facts/organization.ts'
import type { Picture, PictureName } from '../model/rows/organization.ts'
import type { State } from '../model/state.ts'
import { type Context, type Outcome, resource, type Tools } from '../resource.ts'
import { everyone } from '../rules/audiences.ts'
import * as may from '../rules/index.ts'

interface Prepared {
  readonly uploadIcon: string
  readonly uploadLogo: string
}

export const pictures = resource(api)<PictureFact, Prepared>({
  prepare: {
    uploadIcon: (tools, { file }, state, actor) => keep(tools, file, { state, actor: actor! }),
    uploadLogo: (tools, { file }, state, actor) => keep(tools, file, { state, actor: actor! }),
  },

  commands: {
    uploadIcon: (ctx, _params, file) => withUrl(ctx, change(ctx, 'icon', file)),
    deleteIcon: ctx => withUrl(ctx, change(ctx, 'icon')),
    uploadLogo: (ctx, { night }, file) => ({ ...change(ctx, night ? 'nightLogo' : 'logo', file), reply: {} }),
    deleteLogo: (ctx, { night }) => ({ ...change(ctx, night ? 'nightLogo' : 'logo'), reply: {} }),
  },

  apply: {
    'organization.picture-changed'(state, { name, picture }) {
      const { organization } = state
      state.organization = { ...organization, pictures: { ...organization.pictures, [name]: picture } }
    },
  },

  announce: {
    'organization.picture-changed': (state, { name, picture, site }) => {
      const prefix = apiNames[name]
      const data = { [`${prefix}_source`]: sourceOf(name, picture), [`${prefix}_url`]: urlOf(site, name, picture) }
      return [{ to: everyone(state), event: { type: 'realm', op: 'update_dict', property: prefix, data } }]
    },
  },
})

const apiNames: Readonly<Record<PictureName, string>> = { icon: 'icon', logo: 'logo', nightLogo: 'night_logo' }

/** Fields of `register`. */
export function presentPictures({ organization }: State, site: string): Record<string, string> {
  const fields: Record<string, string> = {}
  for (const [name, prefix] of Object.entries(apiNames) as [PictureName, string][]) {
    const picture = organization.pictures?.[name]
    fields[`realm_${prefix}_url`] = urlOf(site, name, picture)
    fields[`realm_${prefix}_source`] = sourceOf(name, picture)
  }
  return fields
}

export function iconUrl(state: State, site: string): string {
  return pictureUrl(state, site, 'icon')
}

export function pictureUrl({ organization }: State, site: string, name: PictureName): string {
  return urlOf(site, name, organization.pictures?.[name])
}

/** The name of the file that is served at the address of a picture of the organization, an emoji or an avatar. No other file has such an address. */
export function pictureFile({ organization, emoji, users }: State, path: string): string | undefined {
  const [, folder, file] = /^\/user_avatars\/(.+)\/([^/]+)$/.exec(path) ?? []
  if (folder === undefined || file === undefined) return undefined
  if (folder === 'emoji/images') return emoji.where('file', file).length > 0 ? file : undefined
  const names = Object.keys(apiNames) as PictureName[]
  const name = folder === '1/realm' && names.find(known => file === `${apiNames[known]}.png`)
  if (name) return organization.pictures?.[name]?.file
  return users.get(Number(folder))?.avatar.file === file ? file : undefined
}

/** Ends in `.png` whatever the type of the picture is: clients know the address from public servers, which convert all to PNG. */
function urlOf(site: string, name: PictureName, picture: Picture | undefined): string {
  if (picture?.file === undefined) return `${site}/static/icon.svg`
  return `/user_avatars/1/realm/${apiNames[name]}.png?version=${picture.version}`
}

/** Uploaded, or what the server has: of icons the API calls that by the letter of the avatar provider. */
function sourceOf(name: PictureName, picture: Picture | undefined): 'U' | 'G' | 'D' {
  if (picture?.file !== undefined) return 'U'
  return name === 'icon' ? 'G' : 'D'
}

/** Asked before a file is written: what is refused must not fill the disk. */
async function keep(tools: Tools, file: Upload, asker: may.Asker): Promise<string> {
  may.insist(may.administer, asker)
  checkImage('file', file, limits.imageMiB)
  if (tools.server) checkQuota(asker.state, tools.server, sizeOf(file))
  return tools.keepFile(file)
}

function change(ctx: Context, name: PictureName, file?: string): Pick<Outcome<object>, 'facts' | 'dropped'> & Changed {
  may.insist(may.administer, ctx)
  const old = ctx.state.organization.pictures?.[name]
  const picture: Picture = { version: (old?.version ?? 1) + 1, ...(file !== undefined && { file }) }
  return {
    picture,
    facts: [{ type: 'organization.picture-changed', name, picture, site: ctx.server.url }],
    ...(old?.file !== undefined && { dropped: [old.file] }),
  }
}

interface Changed {
  readonly picture: Picture
}

function withUrl(ctx: Context, { picture, ...outcome }: ReturnType<typeof change>): Outcome<{ icon_url: string }> {
  return { ...outcome, reply: { icon_url: urlOf(ctx.server.url, 'icon', picture) } }
}
