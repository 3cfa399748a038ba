// An endpoint as its page describes it for "Try it".

export interface TriedField {
  readonly name: string
  readonly inPath?: boolean
  readonly required?: boolean
  /** Texts are sent as they are, everything else as JSON. */
  readonly kind: 'text' | 'markdown' | 'secret' | 'json' | 'file'
  readonly choices?: readonly (string | number | boolean)[]
  /** What it has at first. */
  readonly value?: string
  /** What the daemon takes if it is left empty. */
  readonly usual?: string
}

export interface TriedEndpoint {
  readonly method: string
  /** Below `base`. */
  readonly path: string
  readonly base: string
  readonly access: string
  readonly fields: readonly TriedField[]
}
