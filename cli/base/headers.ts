// Headers of an answer as node:http gives them: flat, name, value, name, value.

export type Headers = readonly string[]

/** Milliseconds. A header has whole seconds, so within this distance the clock of this machine is the better one. */
const agreement = 2000

/** When an answer was sent, by the server's clock; undefined if it does not say. */
export function timeIn(headers: Headers): Date | undefined {
  const time = Date.parse(headerIn(headers, 'date') ?? '')
  if (Number.isNaN(time)) return undefined
  const here = Date.now()
  return new Date(Math.abs(time - here) < agreement ? here : time)
}

export function headerIn(headers: Headers, name: string): string | undefined {
  const wanted = name.toLowerCase()
  for (let i = 0; i < headers.length; i += 2) if (headers[i]!.toLowerCase() === wanted) return headers[i + 1]
  return undefined
}
