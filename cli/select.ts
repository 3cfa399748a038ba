// Parts of a reply: `--fields id,title` and dotted paths such as `message.content`.

export function picked(value: unknown, fields: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map(item => picked(item, fields))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(fields.map(path => [path, at(value, path)]).filter(([, found]) => found !== undefined))
}

function at(value: unknown, path: string): unknown {
  let found: unknown = value
  for (const step of path.split('.'))
    found =
      typeof found === 'object' && found !== null && Object.hasOwn(found, step) ? (found as never)[step] : undefined
  return found
}
