// The description of a change of the API: its level, its place, and the form that older levels have.

/** Replies and events are built in one form that has everything; a form says what of it a level sees. */
export interface Form {
  /** Fields that appear with the level, as paths; `*` means each element or key. */
  readonly begins?: readonly string[]
  /** Fields that end with it. */
  readonly ends?: readonly string[]
  /** What `older` changes, as older levels have it. A client that never got it has nothing to change. */
  readonly touches?: readonly string[]
  /** From the newer form to the older one. An event that older levels do not have becomes null. */
  readonly older?: (built: any) => any
  /** From the form that has everything to the newer one. An event that newer levels do not have becomes null. */
  readonly newer?: (built: any) => any
}

export interface Change {
  readonly level: number
  /** Levels above it that do not have the change: it went into a maintenance release first. */
  readonly gap?: readonly [from: number, to: number]
  /** What a client sees, as a sentence. */
  readonly about: string
  /** Something that clients read is different or gone. */
  readonly breaks?: true
  /** The state in the reply of `register`. */
  readonly register?: Form
  /** By the type of the event. */
  readonly events?: Readonly<Record<string, Form>>
  /** By the ID of the endpoint. Fields of replies that appear or end are marked in the catalogue, not here. */
  readonly replies?: Readonly<Record<string, Form>>
}

export function isIn({ level, gap }: Pick<Change, 'level' | 'gap'>, at: number): boolean {
  return at >= level && !(gap && at >= gap[0] && at <= gap[1])
}

/** The field of a record, changed by a function; a record without it stays as it is. */
export function at(field: string, change: (value: any) => unknown): (built: any) => any {
  return built => (built[field] === undefined ? built : { ...built, [field]: change(built[field]) })
}

/** Each element of a list, changed by a function. */
export function each(change: (value: any) => unknown): (built: any) => any {
  return list => list.map(change)
}

/** These fields of a record and no others. */
export function only(...fields: readonly string[]): (built: any) => any {
  return built => Object.fromEntries(fields.map(name => [name, built[name]]))
}

/** A record with a field under its older name. */
export function rename(newer: string, older: string): (built: any) => any {
  return built => {
    if (!(newer in built)) return built
    const { [newer]: value, ...rest } = built
    return { ...rest, [older]: value }
  }
}
