// What the crash campaign expects to hear of a saved snippet.

export interface Text {
  readonly title: string
  readonly content: string
}

/** An event about a snippet, as far as the campaign looks at it. */
export interface Told extends Partial<Text> {
  readonly op: string
  readonly id: number
}
