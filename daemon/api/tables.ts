// Makes one table of the catalogue from another, with the same keys.

export function mapTable<T extends object, R>(table: T, make: (name: keyof T & string) => R): { [K in keyof T]: R } {
  return Object.fromEntries(Object.keys(table).map(name => [name, make(name as keyof T & string)])) as {
    [K in keyof T]: R
  }
}
