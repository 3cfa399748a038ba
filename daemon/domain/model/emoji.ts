// An emoji as rows and facts name it.

export type ReactionType = 'unicode_emoji' | 'realm_emoji' | 'svc_extra_emoji'

export interface Emoji {
  readonly type: ReactionType
  /** Dash-separated hexadecimal code points, the ID of a custom emoji, or the name of the extra one. */
  readonly code: string
  readonly name: string
  /** Where the picture is; Unicode emoji are text. */
  readonly src?: string
}
