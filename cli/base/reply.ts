// What a call of the API answers.

/** The JSON object of an answer. */
export type Reply = Readonly<Record<string, unknown>>
