// A row that cannot be used: a sentence that names section, row and field and says what is expected.

export class RowsRefused extends Error {
  /** Its section and its index there, as far as they are known. */
  readonly path: readonly (string | number)[]

  constructor(message: string, path: readonly (string | number)[] = []) {
    super(message)
    this.path = path
  }
}
