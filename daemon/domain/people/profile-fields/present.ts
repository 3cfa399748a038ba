// Profile fields and their values as the API shows them.

import type { Level } from '../../../api/levels/level.ts'
import { profileFieldTypes } from '../../../api/people/profile-fields.ts'
import { renderDescription } from '../../markdown/index.ts'
import type { ProfileField } from '../../model/rows/organization.ts'
import type { State, User } from '../../model/state.ts'

const { SHORT_TEXT, LONG_TEXT } = profileFieldTypes

export function presentFields(state: State) {
  return inOrder(state).map(({ id, type, order, name, hint, data, required, editable, inSummary, forMatching }) => ({
    id,
    type: type as number,
    order,
    name,
    hint,
    field_data: data,
    required,
    editable_by_user: editable,
    ...(inSummary && { display_in_profile_summary: true }),
    ...(forMatching && { use_for_user_matching: true }),
  }))
}

function inOrder(state: State): ProfileField[] {
  return [...state.profileFields.values()].sort((a, b) => a.order - b.order || a.id - b.id)
}

/** Values by the ID of their field. */
export function presentProfile(state: State, user: User, level?: Level) {
  return Object.fromEntries(
    Object.entries(user.profile).map(([id, value]) => [id, presentValue(state, user, Number(id), value, level)]),
  )
}

/** Only text is Markdown. */
export function presentValue(
  state: State,
  user: User,
  fieldId: number,
  value: string,
  level?: Level,
): { value: string; rendered_value?: string } {
  const type = state.profileFields.get(fieldId)?.type
  return type === SHORT_TEXT.id || type === LONG_TEXT.id
    ? { value, rendered_value: renderDescription(state, user, value, level) }
    : { value }
}
