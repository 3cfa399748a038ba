// Rows that the organization has as a whole: what it is, what its people may use, whom it lets in.

import type { OrganizationPermission } from '../../api/shapes/permission-settings.ts'
import type { GroupValue, Role } from './roles.ts'

export interface Organization {
  readonly dateCreated: number
  /** Domain of placeholder and bot addresses. */
  readonly emailDomain: string
  /** Only what differs from the default of the settings table. */
  readonly settings: Readonly<Record<string, unknown>>
  readonly permissions: Readonly<Record<OrganizationPermission, GroupValue>>
  /** What new accounts start with, where it differs from the table. */
  readonly userDefaults: Readonly<Record<string, unknown>>
  /** Present when an owner deactivated the organization; with the time, in ms, from which its data may be deleted. */
  readonly deactivated?: { readonly deletableFrom?: number }
  /** How many invitations were mailed on the last day that saw any; days since 1970, UTC. */
  readonly invited?: { readonly day: number; readonly count: number }
  /** Those that were ever uploaded. */
  readonly pictures?: Readonly<Partial<Record<PictureName, Picture>>>
}

export type PictureName = 'icon' | 'logo' | 'nightLogo'

export interface Picture {
  readonly version: number
  /** Name of the file beside the store; absent if it was deleted. */
  readonly file?: string
}

export interface ProfileField {
  readonly id: number
  readonly type: 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8
  readonly order: number
  readonly name: string
  readonly hint: string
  /** JSON text; empty for types without data. */
  readonly data: string
  readonly required: boolean
  readonly editable: boolean
  readonly inSummary: boolean
  /** Whether people are found by its value. */
  readonly forMatching?: boolean
}

export interface CustomEmoji {
  readonly id: number
  readonly name: string
  readonly authorId: number | null
  /** Name of the file beside the store. */
  readonly file: string
  /** That of its first frame, if it is animated. */
  readonly still?: string
  readonly deactivated: boolean
}

/** Served like avatars: the path ends in the name of the file. */
export function emojiUrl({ file }: Pick<CustomEmoji, 'file'>): string {
  return `/user_avatars/emoji/images/${file}`
}

export interface Linkifier {
  readonly id: number
  readonly pattern: string
  readonly urlTemplate: string
  /** Lower ones are tried first. */
  readonly order: number
  /** A text that matches the pattern. */
  readonly example?: string
  /** What a pasted URL becomes. */
  readonly reverse?: string
  /** More templates that pasted URLs can have. */
  readonly alternatives?: readonly string[]
}

export interface EmailDomain {
  readonly id: number
  readonly domain: string
  readonly allowSubdomains: boolean
}

/** Without an email address it is a link for many. Times are seconds. */
export interface Invitation {
  readonly id: number
  readonly token: string
  readonly email?: string
  readonly inviterId: number
  readonly madeAt: number
  /** null: never. */
  readonly expires: number | null
  readonly invitedAs: Role
  readonly channelIds: readonly number[]
  readonly groupIds: readonly number[]
  readonly withDefaultChannels: boolean
  readonly notifyInviter: boolean
  readonly welcome: string | null
  /** Absent while it can be accepted. Of a link, only when it was revoked. */
  readonly ended?: 'used' | 'revoked'
}

/** Where code blocks of a language can be run. */
export interface Playground {
  readonly id: number
  readonly name: string
  readonly language: string
  readonly urlTemplate: string
}

/** An archive of the organization that an administrator asked for. */
export interface Export {
  readonly id: number
  readonly userId: number
  /** 1: public data only; 2: also the private data of users who allow it. */
  readonly kind: 1 | 2
  /** Milliseconds. */
  readonly requested: number
  /** `prior`: made on the server that the organization was imported from, where its archive is. */
  readonly status: 'pending' | 'done' | 'deleted' | 'failed' | 'prior'
  /** Milliseconds when it was deleted, or failed. */
  readonly ended?: number
  /** `exports/1/…/name.tar.gz`, hard to guess; its address is this behind `/user_uploads/`. */
  readonly path?: string
  /** Name of the archive beside the store, while there is one. */
  readonly file?: string
}
