// Spaces: worlds beside the daemon's own, each under /spaces/NAME with everything that a daemon has.

import { controlEndpoint } from '../control-endpoint.ts'
import {
  anything,
  bool,
  eitherOf,
  inPath,
  int,
  keyed,
  listOf,
  milliseconds,
  nullable,
  oneOf,
  optional,
  record,
  text,
} from '../define.ts'
import { Type } from '../shape-builders.ts'
import { shortText } from '../shapes/control.ts'

/** A part of an address: what needs no encoding there, and cannot be taken for a folder. */
export const spaceName = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,63}$/

/** For a name in an answer, where there may be anything or nothing. */
export function isSpaceName(name: unknown): name is string {
  return typeof name === 'string' && spaceName.test(name)
}

/** The daemon's own world, where a space is made from another one. */
export const mainWorld = 'main'

const name = Type.String({ maxLength: 100, ref: 'space' })

const snapshot = Type.String({ maxLength: 100, ref: 'snapshot' })

const account = record({ user_id: int, email: text, full_name: text, api_key: text })

/** Has the fields of a ready file. */
const madeSpace = {
  name: text,
  url: text,
  owner: account,
  accounts: listOf(account),
  control_token: text,
  inspector: text,
  /** Its feature level. */
  level: int,
}

const listedSpace = record({
  name: text,
  url: text,
  control_token: text,
  created: milliseconds,
  last_used: milliseconds,
  expires: nullable(milliseconds),
  busy: bool,
  /** The defect of the daemon that ended it; null while it is alive. */
  ended: nullable(text),
})

/** Keys are for programs: they ask for JSON. */
const shownToPeople = ['name', 'url', 'inspector']

export const spaces = {
  create: controlEndpoint({
    id: 'create-space',
    route: 'POST /spaces',
    summary: 'Create a space: another organization in the same daemon, with its own address, accounts and clock',
    params: {
      name: optional(name, 'letters, digits, dots, dashes and underscores; the daemon chooses one if omitted'),
      preset: optional(oneOf('empty', 'dev'), 'the content, as with natterd --preset; that of the daemon if omitted'),
      seed: optional(
        eitherOf(keyed(anything), Type.String({ maxLength: 1_000_000, ref: 'seed' })),
        'more content: a seed as an object, or as JSON or YAML text; the command line takes a file',
      ),
      snapshot: optional(snapshot, 'start from this snapshot of the daemon, or of the space in `from`'),
      from: optional(name, 'start as a copy of this space as it is now; main is the daemon itself'),
      clock: optional(Type.String({ maxLength: 100 }), 'real, frozen or frozen@TIME, as with natterd --clock'),
      secret: optional(shortText, 'derive all API keys from this text, so that you can know them in advance'),
      dialect: optional(oneOf('auto', 'spec', 'zulip'), 'names in replies, as with natterd --dialect'),
      level: optional(
        eitherOf(int, Type.String({ maxLength: 20 })),
        'feature level: a number, a release or latest, as with natterd --level; that of the daemon if omitted',
      ),
      strict: optional(
        bool,
        'report what clients send that public servers refuse, as with natterd --strict; that of the daemon if omitted',
      ),
    },
    reply: madeSpace,
    cli: {
      name: 'spaces create',
      args: ['name'],
      columns: shownToPeople,
      examples: [
        'natter spaces create --preset dev',
        'natter spaces create worker-1 --seed world.yaml --clock frozen@2030-01-01T09:00:00Z --json',
        'natter spaces create copy --from worker-1',
      ],
    },
  }),
  list: controlEndpoint({
    id: 'list-spaces',
    route: 'GET /spaces',
    summary: 'List spaces, oldest first; unused ones expire',
    reply: { spaces: listOf(listedSpace), most: int },
    cli: {
      name: 'spaces list',
      examples: ['natter spaces list', 'natter spaces list --json'],
      shows: 'spaces',
      columns: ['name', 'url', 'last_used', 'expires', 'busy', 'ended'],
    },
  }),
  show: controlEndpoint({
    id: 'show-space',
    route: 'GET /spaces/{name}',
    summary: 'Show the address, the accounts and the control token of a space',
    params: { name: inPath(name, 'the space') },
    reply: madeSpace,
    cli: {
      name: 'spaces show',
      columns: shownToPeople,
      examples: ['natter spaces show worker-1', 'natter spaces show worker-1 --jq .owner.api_key'],
    },
  }),
  delete: controlEndpoint({
    id: 'delete-space',
    route: 'DELETE /spaces/{name}',
    summary: 'Delete a space with everything in it; waiting polls are answered',
    params: { name: inPath(name, 'the space') },
    cli: {
      name: 'spaces delete',
      forgets: '/spaces/{name}',
      examples: ['natter spaces delete worker-1', 'natter spaces delete worker-1 --quiet'],
    },
  }),
}
