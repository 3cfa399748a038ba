// Headers of an answer as node:http gives them: flat, name, value, name, value.

export type FlatHeaders = readonly string[]

/** Milliseconds. Within this distance the clock of this machine is used, because the header has whole seconds only. */
const clockTolerance = 2000

/** When an answer was sent, by the server's clock; undefined if it does not say. */
export function serverTime(headers: FlatHeaders): Date | undefined {
  const time = Date.parse(headerIn(headers, 'date') ?? '')
  if (Number.isNaN(time)) return undefined
  const here = Date.now()
  return new Date(Math.abs(time - here) < clockTolerance ? here : time)
}

export function headerIn(headers: FlatHeaders, name: string): string | undefined {
  const wanted = name.toLowerCase()
  for (let i = 0; i < headers.length; i += 2) if (headers[i]!.toLowerCase() === wanted) return headers[i + 1]
  return undefined
}
