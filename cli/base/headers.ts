// Headers of an answer as node:http gives them: flat, name, value, name, value.

export type Headers = readonly string[]

export function headerIn(headers: Headers, name: string): string | undefined {
  const wanted = name.toLowerCase()
  for (let i = 0; i < headers.length; i += 2) if (headers[i]!.toLowerCase() === wanted) return headers[i + 1]
  return undefined
}
