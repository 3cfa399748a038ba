// A reply that is JSON already, for lists too long to be serialised again for each reader.

const decoder = new TextDecoder()

export class Written {
  /** The fields of the object, without its braces: others come before them. */
  readonly fields: readonly (string | Uint8Array)[]

  constructor(...fields: readonly (string | Uint8Array)[]) {
    this.fields = fields
  }

  /** The same, to be written as a part of something. */
  toJSON(): unknown {
    return JSON.parse(`{${this}}`)
  }

  toString(): string {
    return this.fields.map(field => (typeof field === 'string' ? field : decoder.decode(field))).join('')
  }

  /** In the place of the reply: the edge sends it as it is. */
  as<Reply>(): Reply {
    return this as unknown as Reply
  }
}
