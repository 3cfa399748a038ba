// The event of a saved snippet that the crash campaign expects.

export interface Text {
  readonly title: string
  readonly content: string
}

/** An event about a snippet, as far as the campaign looks at it. */
export interface Told extends Partial<Text> {
  readonly op: string
  readonly id: number
}
