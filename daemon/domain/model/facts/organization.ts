// Facts about the organization, its email domains, linkifiers, playgrounds and emoji.

import type { OrganizationPermission } from '../../../api/shapes/permission-settings.ts'
import type { GroupValue } from '../roles.ts'
import type {
  CustomEmoji,
  EmailDomain,
  Export,
  Linkifier,
  Organization,
  Picture,
  PictureName,
  Playground,
} from '../rows/organization.ts'
import type { Group, User } from '../state.ts'

export type AnyOrganizationFact =
  | OrganizationFact
  | LinkifierFact
  | PlaygroundFact
  | PictureFact
  | EmojiFact
  | ExportFact

export type OrganizationFact =
  | OrganizationFounded
  | {
      readonly type: 'organization.changed'
      readonly settings: Readonly<Record<string, unknown>>
      readonly permissions: Partial<Record<OrganizationPermission, GroupValue>>
      /** What clients are told about `authentication_methods`, if it changed: which are available depends on the daemon. */
      readonly methods?: Readonly<Record<string, object>>
    }
  | {
      readonly type: 'organization.deactivated'
      /** Milliseconds; absent: its data is kept. */
      readonly deletableFrom?: number
    }
  | { readonly type: 'organization.reactivated' }
  | { readonly type: 'domain.added' | 'domain.changed'; readonly domain: EmailDomain }
  | { readonly type: 'domain.removed'; readonly domain: EmailDomain }

export type OrganizationFounded = {
  readonly type: 'organization.founded'
  readonly organization: Organization
  readonly groups: readonly Group[]
  readonly users: readonly User[]
}

export type LinkifierFact =
  | { readonly type: 'linkifier.added' | 'linkifier.edited'; readonly linkifier: Linkifier }
  | { readonly type: 'linkifier.removed'; readonly id: number }
  | { readonly type: 'linkifiers.reordered'; readonly ids: readonly number[] }

export type PlaygroundFact =
  | { readonly type: 'playground.added'; readonly playground: Playground }
  | { readonly type: 'playground.removed'; readonly id: number }

/** `site` is what the server was called at the time, for the address of the default picture. */
export type PictureFact = {
  readonly type: 'organization.picture-changed'
  readonly name: PictureName
  readonly picture: Picture
  readonly site: string
}

export type EmojiFact =
  | { readonly type: 'emoji.added'; readonly emoji: CustomEmoji }
  | { readonly type: 'emoji.deactivated'; readonly id: number }

/** `site` is what the server was called at the time, for the addresses in the events. */
export type ExportFact =
  | { readonly type: 'export.requested'; readonly export: Export; readonly site: string }
  | {
      readonly type: 'export.finished'
      readonly id: number
      readonly path: string
      readonly file: string
      readonly site: string
    }
  /** Time: milliseconds. */
  | {
      readonly type: 'export.failed' | 'export.deleted'
      readonly id: number
      readonly time: number
      readonly site: string
    }
