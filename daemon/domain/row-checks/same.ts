// Holds shapes against the types of their rows when the program is compiled, so that they cannot drift apart.

/** Without `readonly`, which shapes do not have. */
type Plain<T> = T extends readonly (infer Item)[]
  ? Plain<Item>[]
  : T extends object
    ? { -readonly [Field in keyof T]: Plain<T[Field]> }
    : T

type IsSame<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false

/** `true` where the shape describes exactly such rows; what each of them says otherwise. */
export type Describes<Shape extends { readonly static: unknown }, Row> =
  IsSame<Plain<Shape['static']>, Plain<Row>> extends true
    ? true
    : { readonly shape: Plain<Shape['static']>; readonly row: Plain<Row> }
