// A reply that is JSON already, for a list too long to be serialised again for each reader.

export class Written {
  readonly json: string

  constructor(json: string) {
    this.json = json
  }

  /** The same, to be written as a part of something. */
  toJSON(): unknown {
    return JSON.parse(this.json)
  }

  /** In the place of the reply: the edge sends it as it is. */
  as<Reply>(): Reply {
    return this as unknown as Reply
  }
}
