// A reply that is JSON text already, for lists too long to be written anew for each reader.

export class Written {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
  /** The same for whoever writes it as a part of something. */
  toJSON(): unknown {
    return JSON.parse(this.text)
  }

  /** Stands where the reply would: the edge sends it as it is. */
  as<Reply>(): Reply {
    return this as unknown as Reply
  }
}
