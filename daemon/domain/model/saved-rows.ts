// A state as the rows of its sections, the form in which it is saved.

/** The files that rows of a state refer to. */
export function filesIn(sections: Readonly<Record<string, readonly unknown[]>>): string[] {
  const { files = [] } = (sections.messages?.[0] ?? {}) as { readonly files?: readonly (string | null)[] }
  return files.filter(file => file !== null)
}

/** All rows at once; a state gives them one by one. */
export function collectRows(saved: Readonly<Record<string, Iterable<unknown>>>): Record<string, unknown[]> {
  return Object.fromEntries(Object.entries(saved).map(([name, rows]) => [name, [...rows]]))
}
