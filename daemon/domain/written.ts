// A reply that is JSON text already, for lists too long to be written anew for each reader.

export class Written {
  /** The fields of the object, without its braces: others stand before them. */
  readonly fields: string
  constructor(fields: string) {
    this.fields = fields
  }
  /** The same for whoever writes it as a part of something. */
  toJSON(): unknown {
    return JSON.parse(`{${this.fields}}`)
  }

  /** Stands where the reply would: the edge sends it as it is. */
  as<Reply>(): Reply {
    return this as unknown as Reply
  }
}
