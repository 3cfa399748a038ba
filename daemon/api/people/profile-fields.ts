// Custom profile fields: fields that the organization defines, and each user's values.

import {
  anything,
  bool,
  defaulted,
  endpoint,
  inPath,
  int,
  keyed,
  listOf,
  maybe,
  oneOf,
  optional,
  profileFieldId,
  record,
  required,
  since,
  text,
} from '../define.ts'
import { profileInput } from './users.ts'

/** Names as `register` reports them, by type. */
export const profileFieldTypes = {
  SHORT_TEXT: { id: 1, name: 'Text (short)' },
  LONG_TEXT: { id: 2, name: 'Text (long)' },
  SELECT: { id: 3, name: 'List of options' },
  DATE: { id: 4, name: 'Date' },
  URL: { id: 5, name: 'Link' },
  USER: { id: 6, name: 'Users' },
  EXTERNAL_ACCOUNT: { id: 7, name: 'External account' },
  PRONOUNS: { id: 8, name: 'Pronouns' },
} as const

const profileField = record({
  id: int,
  type: int,
  order: int,
  name: text,
  hint: text,
  field_data: text,
  required: bool,
  editable_by_user: bool,
  display_in_profile_summary: maybe(bool),
  use_for_user_matching: since(455, bool),
})

const properties = {
  name: optional(text, 'the name, at most 40 characters'),
  hint: optional(text, 'help text, at most 80 characters'),
  field_data: optional(keyed(anything), 'the options of a list, or the kind of external account'),
  display_in_profile_summary: optional(bool, 'whether it is shown in the profile summary; at most two fields can be'),
  required: optional(bool, 'whether users are asked to fill it in'),
  use_for_user_matching: optional(bool, 'whether people are found by its value when their name is typed', {
    since: 455,
  }),
}
const fieldId = inPath(profileFieldId, 'the field')

export const profileFields = {
  list: endpoint({
    id: 'get-custom-profile-fields',
    route: 'GET /realm/profile_fields',
    summary: 'List the profile fields of the organization',
    reply: { custom_fields: listOf(profileField) },
    cli: {
      name: 'profile-fields list',
      examples: ['natter profile-fields list', 'natter profile-fields list --json'],
      columns: ['id', 'name', 'type', 'hint', 'required'],
    },
  }),
  create: endpoint({
    id: 'create-custom-profile-field',
    route: 'POST /realm/profile_fields',
    callers: 'administrators',
    summary: 'Create a profile field (administrators)',
    params: {
      field_type: required(
        oneOf(1, 2, 3, 4, 5, 6, 7, 8),
        '1 short text, 2 long text, 3 options, 4 date, 5 link, 6 people, 7 external account, 8 pronouns',
      ),
      ...properties,
      editable_by_user: defaulted(bool, true, 'whether users can fill it in themselves', {
        off: 'only administrators can fill it in',
      }),
    },
    reply: { id: int },
    cli: {
      name: 'profile-fields create',
      done: 'created profile field {name} (ID {id})',
      args: ['name'],
      flags: { field_type: 'type' },
      examples: [
        'natter profile-fields create "Favourite editor" --type 1',
        `natter profile-fields create Team --type 3 --field-data '{"0": {"text": "Red", "order": "1"}}' --json`,
      ],
    },
  }),
  update: endpoint({
    id: 'update-custom-profile-field',
    route: 'PATCH /realm/profile_fields/{field_id}',
    callers: 'administrators',
    summary: 'Edit a profile field (administrators)',
    params: {
      field_id: fieldId,
      ...properties,
      editable_by_user: optional(bool, 'whether users can fill it in themselves'),
    },
    cli: {
      name: 'profile-fields edit',
      done: 'edited profile field {field_id}',
      examples: ['natter profile-fields edit 1 --name Editor', 'natter profile-fields edit 1 --required --json'],
    },
  }),
  reorder: endpoint({
    id: 'reorder-custom-profile-fields',
    route: 'PATCH /realm/profile_fields',
    callers: 'administrators',
    summary: 'Reorder profile fields (administrators)',
    params: { order: required(listOf(profileFieldId), 'IDs of all fields, in the new order') },
    cli: {
      name: 'profile-fields reorder',
      done: 'reordered the profile fields',
      examples: ['natter profile-fields reorder 2 1', 'natter profile-fields reorder 2,1 --json'],
    },
  }),
  delete: endpoint({
    id: 'delete-custom-profile-field',
    route: 'DELETE /realm/profile_fields/{field_id}',
    callers: 'administrators',
    summary: 'Delete a profile field and its values (administrators)',
    params: { field_id: fieldId },
    cli: {
      name: 'profile-fields delete',
      done: 'deleted profile field {field_id} and its values',
      destroys: { question: 'Delete the profile field {field_id} with the values of all users?' },
      examples: ['natter profile-fields delete 1', 'natter profile-fields delete 1 --json'],
    },
  }),
  set: endpoint({
    id: 'update-profile-data',
    route: 'PATCH /users/me/profile_data',
    callers: 'humans',
    summary: 'Set your own profile fields',
    params: { data: required(listOf(profileInput), 'fields to set: [{"id": 4, "value": "vim"}]') },
    cli: {
      name: 'profile-fields edit-own',
      done: 'edited your profile',
      examples: [
        `natter profile-fields edit-own '{"id": 1, "value": "vim"}'`,
        `natter profile-fields edit-own '[{"id": 1, "value": "vim"}, {"id": 2, "value": [5, 6]}]' --json`,
      ],
    },
  }),
  clear: endpoint({
    id: 'remove-profile-data',
    route: 'DELETE /users/me/profile_data',
    callers: 'humans',
    summary: 'Clear your own profile fields',
    params: { data: required(listOf(profileFieldId), 'the fields to clear') },
    cli: {
      name: 'profile-fields clear',
      done: 'cleared the profile fields',
      examples: ['natter profile-fields clear 1', 'natter profile-fields clear 1 2 --json'],
    },
  }),
}
