// Says in words at which levels something is, for help and docs.

import { defaultLevel } from './releases.ts'

export interface Marked {
  readonly since?: number
  readonly until?: number
  readonly earlier?: { readonly until: number }
}

/** `since level 441`; undefined for what the default level has and every newer one keeps. */
export function spanText({ since = 0, until, earlier }: Marked): string | undefined {
  const parts = [
    ...(since > defaultLevel ? [`since level ${since}`] : []),
    ...(until === undefined ? [] : [`gone since level ${until}`]),
    ...(earlier ? [`other values before level ${earlier.until}`] : []),
  ]
  return parts.length === 0 ? undefined : parts.join('; ')
}

/** A description that ends with the levels, if there is something to say of them. */
export function withSpan(about: string, marked: Marked): string {
  const span = spanText(marked)
  return span === undefined ? about : `${about} (${span})`
}
