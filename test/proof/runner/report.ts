// Orders of the runner to the process of a campaign, and its reports.

import type { Result } from '../campaign.ts'

export interface Order {
  /** The file of the campaign. */
  readonly file: string
  readonly count: number
  readonly seed: number
  readonly minutes?: number | undefined
}

export interface Failed {
  readonly message: string
  /** The arguments that repeat it. */
  readonly again: string
}

/** What the process of a campaign reports. */
export type Report =
  | { readonly kind: 'note'; readonly text: string }
  | { readonly kind: 'progress'; readonly done: number }
  | ({ readonly kind: 'passed' } & Result)
  | ({ readonly kind: 'failed' } & Failed)
