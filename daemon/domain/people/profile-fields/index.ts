// Custom profile fields: what the organization asks, and the answers of the caller.

import type { ParamsOf } from '../../../api/define.ts'
import { profileFields as api, profileFieldTypes } from '../../../api/people/profile-fields.ts'
import { limits } from '../../limits.ts'
import type { ProfileChange, ProfileFieldFact } from '../../model/facts/people.ts'
import type { ProfileField } from '../../model/rows/organization.ts'
import type { State, User } from '../../model/state.ts'
import { conflict, full, invalid, missing, taken } from '../../refusal.ts'
import { type Announcement, type Context, type Outcome, resource } from '../../resource.ts'
import { everyone } from '../../rules/audiences.ts'
import * as may from '../../rules/index.ts'
import { clean } from '../../values/text.ts'
import { announcePersonUpdated } from '../users/announce.ts'
import { checkFieldData, externalAccounts, isBuiltIn, isSameData } from './field-data.ts'
import { presentFields } from './present.ts'
import { checkProfile, checkRemoval } from './values.ts'

export const profileFields = resource(api)<ProfileFieldFact>({
  commands: {
    list: ctx => ({ reply: { custom_fields: presentFields(ctx.state) } }),

    create(ctx, params) {
      may.insist(may.administer, ctx)
      if (ctx.state.profileFields.size >= limits.profileFields)
        throw full('The organization', limits.profileFields, 'profile fields')
      const id = ctx.state.profileFields.nextId
      const data = checkFieldData(params.field_type, params.field_data)
      const account = externalAccounts[data.account ?? '']
      const field: ProfileField = {
        id,
        type: params.field_type,
        order: id,
        name: checkName(ctx.state, account?.name ?? params.name ?? '', id),
        hint: account?.hint ?? checkHint(params.hint ?? ''),
        data: data.text,
        required: params.required ?? false,
        editable: params.editable_by_user,
        inSummary: checkSummary(ctx, params.field_type, params.display_in_profile_summary ?? false, id),
        ...matching(params.field_type, params.use_for_user_matching),
      }
      return { facts: [{ type: 'profile-field.created', field }], reply: { id } }
    },

    update(ctx, params) {
      may.insist(may.administer, ctx)
      const old = findField(ctx.state, params.field_id)
      const field = updateField(ctx, old, params)
      return {
        facts: [{ type: 'profile-field.updated', field, cleared: withLostOption(ctx.state, field) }],
        reply: {},
      }
    },

    reorder(ctx, { order }) {
      may.insist(may.administer, ctx)
      const given = new Set(order)
      for (const { id } of ctx.state.profileFields.values())
        if (!given.has(id)) throw invalid('order', `must list the ID of every field; ${id} is missing`)
      return { facts: [{ type: 'profile-field.reordered', order }], reply: {} }
    },

    delete(ctx, { field_id }) {
      may.insist(may.administer, ctx)
      const { id } = findField(ctx.state, field_id)
      const cleared = holders(ctx.state, id, () => true)
      return { facts: [{ type: 'profile-field.deleted', id, cleared }], reply: {} }
    },

    set: (ctx, { data }) =>
      filledIn(ctx, checkField => checkProfile(ctx, ctx.actor, 'data', data, { checkField, emptyRemoves: false })),
    clear: (ctx, { data }) => filledIn(ctx, checkField => checkRemoval(ctx, ctx.actor, 'data', data, checkField)),
  },

  apply: {
    'profile-field.created': (state, { field }) => state.profileFields.put(field),
    'profile-field.updated'(state, { field, cleared }) {
      state.profileFields.put(field)
      clearValues(state, field.id, cleared)
    },
    'profile-field.reordered'(state, { order }) {
      // Of an ID that is listed twice the last place counts; unknown IDs count as places.
      for (const [index, id] of order.entries()) {
        const field = state.profileFields.get(id)
        if (field) state.profileFields.put({ ...field, order: index })
      }
    },
    'profile-field.deleted'(state, { id, cleared }) {
      state.profileFields.remove(id)
      clearValues(state, id, cleared)
    },
  },

  announce: {
    'profile-field.created': state => [announceFields(state)],
    'profile-field.updated': (state, { field, cleared }) => [
      announceFields(state),
      ...cleared.map(userId =>
        announcePersonUpdated(state, state.users.get(userId)!, { custom_profile_field: { id: field.id, value: null } }),
      ),
    ],
    'profile-field.reordered': state => [announceFields(state)],
    // Clients forget the values with the field.
    'profile-field.deleted': state => [announceFields(state)],
  },

  sections: {
    custom_profile_fields: ctx => ({
      custom_profile_fields: presentFields(ctx.state),
      custom_profile_field_types: profileFieldTypes,
    }),
  },
})

function announceFields(state: State): Announcement {
  return { to: everyone(state), event: { type: 'custom_profile_fields', fields: presentFields(state) } }
}

function filledIn(
  ctx: Context,
  changesOf: (checkField: (field: ProfileField) => void) => ProfileChange[],
): Outcome<object> {
  may.check(may.haveProfile, ctx)
  const values = changesOf(field => may.check(may.editProfileField, ctx, field))
  return {
    facts: values.length > 0 ? [{ type: 'user.profile-changed', userId: ctx.actor.id, values }] : [],
    reply: {},
  }
}

function findField(state: State, id: number): ProfileField {
  const field = state.profileFields.get(id)
  if (!field) throw missing('field_id', 'profile field', id)
  return field
}

function updateField(ctx: Context, old: ProfileField, params: ParamsOf<typeof api.update>): ProfileField {
  const { state } = ctx
  const { name, hint, field_data, required, editable_by_user, display_in_profile_summary } = params
  const renamed = name !== undefined && name.trim() !== old.name
  const hinted = hint !== undefined && hint !== old.hint
  if (isBuiltIn(old) && (renamed || hinted || !(field_data === undefined || isSameData(old, field_data))))
    throw conflict('field_id', 'name, hint and field_data of a built-in external account cannot be changed')
  return {
    ...old,
    name: name === undefined ? old.name : checkName(state, name, old.id),
    hint: hint === undefined ? old.hint : checkHint(hint),
    data: field_data === undefined ? old.data : checkFieldData(old.type, field_data).text,
    required: required ?? old.required,
    editable: editable_by_user ?? old.editable,
    inSummary: checkSummary(ctx, old.type, display_in_profile_summary ?? old.inSummary, old.id),
    ...matching(old.type, params.use_for_user_matching),
  }
}

function checkName(state: State, given: string, id: number): string {
  const name = clean('name', given, limits.profileFieldName)
  if (name === '') throw invalid('name', 'cannot be blank')
  for (const field of state.profileFields.values())
    if (field.name === name && field.id !== id) throw taken('name', name)
  return name
}

function checkHint(hint: string): string {
  return clean('hint', hint, limits.profileFieldHint)
}

/** Fields of the types short text and external account only. */
function matching(type: ProfileField['type'], wanted: boolean | undefined): Pick<ProfileField, 'forMatching'> {
  if (wanted && type !== 1 && type !== 7)
    throw invalid('use_for_user_matching', 'only fields of short text and external accounts can be used for it')
  return wanted === undefined ? {} : { forMatching: wanted }
}

function checkSummary({ state, server }: Context, type: ProfileField['type'], wanted: boolean, id: number): boolean {
  if (!wanted) return false
  const { paragraphsInSummary } = server.level.rules
  if (type === profileFieldTypes.USER.id || (type === profileFieldTypes.LONG_TEXT.id && !paragraphsInSummary))
    throw invalid(
      'display_in_profile_summary',
      `fields of ${paragraphsInSummary ? 'people' : 'long text or of people'} cannot be in the summary`,
    )
  const others = [...state.profileFields.values()].filter(field => field.inSummary && field.id !== id)
  if (others.length >= 2) throw conflict('display_in_profile_summary', 'only two fields can be in the summary')
  return true
}

function withLostOption(state: State, field: ProfileField): number[] {
  if (field.type !== 3) return []
  const options = JSON.parse(field.data)
  return holders(state, field.id, value => !Object.hasOwn(options, value))
}

function holders(state: State, fieldId: number, matches: (value: string) => boolean): number[] {
  const found: number[] = []
  for (const user of state.users.values()) {
    const value = user.profile[fieldId]
    if (value !== undefined && matches(value)) found.push(user.id)
  }
  return found
}

function clearValues(state: State, fieldId: number, userIds: readonly number[]): void {
  for (const id of userIds) {
    const user: User = state.users.get(id)!
    const { [fieldId]: _gone, ...profile } = user.profile
    state.users.put({ ...user, profile })
  }
}
