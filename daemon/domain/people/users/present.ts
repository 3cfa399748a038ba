// Users as the API shows them: what all readers see of an account, and what depends on the reader.

import { md5 } from '@noble/hashes/legacy.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import type { Level } from '../../../api/levels/level.ts'
import { apiEmail, emailIsPublic, placeholder } from '../../model/lookups.ts'
import { roles } from '../../model/roles.ts'
import { organizationSetting, userSetting } from '../../model/settings.ts'
import type { State, User } from '../../model/state.ts'
import { isAdministrator, isGuest, isOwner } from '../../rules/index.ts'
import { minuteIso } from '../../values/time.ts'
import { presentProfile } from '../profile-fields/present.ts'

/** What makes one reader's view of a user differ from another's. */
export interface View {
  readonly seesEmail: boolean
  readonly clientGravatar: boolean
  readonly withProfile: boolean
  /** Without it, nothing of newer levels. */
  readonly level?: Level
}

export function presentUser(state: State, user: User, { seesEmail, clientGravatar, withProfile, level }: View) {
  return {
    user_id: user.id,
    delivery_email: seesEmail ? user.email : null,
    email: apiEmail(state, user),
    full_name: user.fullName,
    date_joined: minuteIso(user.joined),
    is_active: user.active,
    is_owner: isOwner(user),
    is_admin: isAdministrator(user),
    is_guest: isGuest(user),
    is_bot: user.bot !== undefined,
    bot_type: user.bot?.type ?? null,
    role: user.role,
    timezone: userSetting(user, 'timezone'),
    avatar_url: shownAvatar(user, clientGravatar),
    avatar_version: user.avatar.version,
    // After all others: V8 makes an object more slowly from the first field on that may be absent.
    ...(user.bot && { bot_owner_id: user.bot.ownerId }),
    ...(user.bot?.system && { is_system_bot: true }),
    ...lastingFields(level),
    ...(withProfile && !user.bot && { profile_data: presentProfile(state, user, level) }),
  }
}

// OPEN: an import makes accounts, never stand-ins for people who may come later. Public servers say is_deleted of deleted accounts
// only, and no account is ever deleted here.
function lastingFields(level: Level | undefined) {
  return { ...(level?.rules.importedStubsShown && { is_imported_stub: false }) }
}

type PresentedUser = ReturnType<typeof presentUser>

/** In place of a user the reader may not know of. */
export function presentStranger(state: State, user: User, level: Level): PresentedUser {
  return {
    user_id: user.id,
    delivery_email: null,
    email: placeholder(state, user.id),
    full_name: unknownName,
    date_joined: minuteIso(0),
    is_active: true,
    is_owner: false,
    is_admin: false,
    is_guest: false,
    is_bot: false,
    bot_type: null,
    role: roles.member,
    timezone: '',
    avatar_url: unknownAvatar,
    avatar_version: 1,
    ...lastingFields(level),
    profile_data: {},
  }
}

export const unknownName = 'Unknown user'
export const unknownAvatar = '/static/unknown-user.svg'

/** The fields of a user in a message, a reaction or a list of recipients. */
export function presentAuthor(state: State, user: User, clientGravatar: boolean, isStranger: boolean) {
  return isStranger
    ? { email: placeholder(state, user.id), full_name: unknownName, avatar_url: unknownAvatar }
    : { email: apiEmail(state, user), full_name: user.fullName, avatar_url: shownAvatar(user, clientGravatar) }
}

// A row is never changed, so its text can be kept as long as the row: one for each of the four views without a profile.
const texts = new WeakMap<User, (string | undefined)[]>()

/** The user as JSON text. Lists of thousands are made of these. */
export function userText(state: State, user: User, view: View): string {
  if (view.withProfile && !user.bot) {
    // Rendered again, because the rules of the organization can have changed since.
    const profile = JSON.stringify(presentProfile(state, user, view.level))
    return `${userText(state, user, { ...view, withProfile: false }).slice(0, -1)},"profile_data":${profile}}`
  }
  let known = texts.get(user)
  if (!known) {
    known = []
    texts.set(user, known)
  }
  const which = (view.seesEmail ? 2 : 0) + (view.clientGravatar ? 1 : 0)
  known[which] ??= JSON.stringify(presentUser(state, user, { ...view, withProfile: false }))
  return known[which]
}

// --- avatars ----------------------------------------------------------------------------------------------------

/** Null when the client can work it out from the address. */
function shownAvatar(user: User, clientGravatar: boolean): string | null {
  return clientGravatar && hasProviderAvatar(user) && emailIsPublic(user) ? null : avatarUrl(user)
}

/** The picture comes from the avatar provider, by the address. */
export function hasProviderAvatar({ avatar }: User): boolean {
  return avatar.file === undefined && !avatar.jdenticon
}

/** The avatar of an account without an upload, as the organization wants it for new ones. */
export function defaultAvatar(state: State, version: number): User['avatar'] {
  return organizationSetting(state, 'default_avatar_source') === 'J' ? { version, jdenticon: true } : { version }
}

/** Uploaded, drawn by the server, or that of the avatar provider. The first two are relative to the server and have one size. */
export function avatarUrl(user: User, medium = false): string {
  const { id, email, avatar } = user
  if (!hasProviderAvatar(user)) return `/user_avatars/${id}/${avatar.file ?? 'jdenticon.svg'}?version=${avatar.version}`
  let hash = hashes.get(user)
  if (hash === undefined) {
    // A hash of the address would confirm any guess of it, so an account with a hidden address gets a picture by ID.
    hash = hashAddress(emailIsPublic(user) ? email : `user ${id}`)
    hashes.set(user, hash)
  }
  return providerUrl(hash, avatar.version, medium)
}

// Kept as long as the row, like the texts: every message and every list of users has some.
const hashes = new WeakMap<User, string>()

/** The picture that the avatar provider has for an address without an account. */
export function providerAvatarUrl(address: string, medium: boolean): string {
  return providerUrl(hashAddress(address), 1, medium)
}

function hashAddress(address: string): string {
  return bytesToHex(md5(utf8ToBytes(address.toLowerCase())))
}

function providerUrl(hash: string, version: number, medium: boolean): string {
  return `https://secure.gravatar.com/avatar/${hash}?d=identicon${medium ? '&s=500' : ''}&version=${version}`
}

export function presentAvatar(user: User) {
  return {
    avatar_url: avatarUrl(user),
    avatar_url_medium: avatarUrl(user, true),
    avatar_source: hasProviderAvatar(user) ? 'G' : user.avatar.file ? 'U' : 'J',
    avatar_version: user.avatar.version,
  }
}
