// What expressions of the quick subset of jq do to values. Whatever jq refuses, or does in a way of its own, is `unsure`: then jq
// itself is asked.

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

/** Thrown to leave a value to jq. It is one object, because a stack trace per event would cost more than jq. */
export const unsure = new Error('left to jq')

/** Gives its results to `emit`, in the order of jq. */
export type Step = (input: Json, emit: (value: Json) => void) => void

export function fieldOf(value: Json, key: string): Json {
  if (value === null) return null
  if (!isObject(value)) throw unsure
  return Object.hasOwn(value, key) ? value[key]! : null
}

export function itemOf(value: Json, index: number): Json {
  if (value === null) return null
  return itemsOf(value).at(index) ?? null
}

/** Not those of an object: JavaScript changes the order of its keys. */
export function itemsOf(value: Json): readonly Json[] {
  if (!Array.isArray(value)) throw unsure
  return value
}

export function isTrue(value: Json): boolean {
  return value !== null && value !== false
}

/** The one result of a step; undefined if there is none. Of several, jq makes combinations. */
export function oneOf(step: Step, input: Json): Json | undefined {
  let found: Json | undefined
  step(input, value => {
    if (found !== undefined) throw unsure
    found = value
  })
  return found
}

export function textIn(value: Json): string {
  if (typeof value !== 'string') throw unsure
  return value
}

export function lengthOf(value: Json): number {
  if (value === null) return 0
  if (typeof value === 'string') return isBasic(value) ? value.length : [...value].length
  if (typeof value === 'object') return Object.keys(value).length
  throw unsure
}

export function typeOf(value: Json): string {
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}

export function isSame(a: Json, b: Json): boolean {
  if (typeof a === 'object' && typeof b === 'object' && a !== null && b !== null) throw unsure
  return a === b
}

/** Below 0 if the first comes first in jq's order of values. */
export function compare(a: Json, b: Json): number {
  if (rankOf(a) !== rankOf(b)) return rankOf(a) - rankOf(b)
  if (typeof a === 'number') return a - (b as number)
  if (typeof a === 'object' && a !== null) throw unsure
  if (typeof a !== 'string' || a === b) return 0
  if (!isBasic(a) || !isBasic(b as string)) throw unsure
  return a < (b as string) ? -1 : 1
}

export function sum(a: Json, b: Json): Json {
  if (a === null) return b
  if (b === null) return a
  if (typeof a === 'number' && typeof b === 'number') return wholeNumber(a + b)
  if (typeof a === 'string' && typeof b === 'string') return a + b
  if (Array.isArray(a) && Array.isArray(b)) return [...a, ...b]
  throw unsure
}

export function difference(a: Json, b: Json): Json {
  if (typeof a === 'number' && typeof b === 'number') return wholeNumber(a - b)
  throw unsure
}

export function joined(value: Json, separator: Json): string {
  const between = textIn(separator)
  return itemsOf(value)
    .map(item => (item === null ? '' : typeof item === 'object' ? leave() : shown(item)))
    .join(between)
}

/** As jq prints it with `-r -c`, without the line break. */
export function shown(value: Json): string {
  return typeof value === 'string' ? value : jsonOf(value)
}

export function jsonOf(value: Json): string {
  demandPlain(value)
  return JSON.stringify(value)
}

/** What JavaScript prints as jq does. */
function demandPlain(value: Json): void {
  if (typeof value === 'number') wholeNumber(value)
  else if (Array.isArray(value)) for (const item of value) demandPlain(item)
  else if (isObject(value))
    for (const key of Object.keys(value)) {
      if (isNumeral(key)) throw unsure
      demandPlain(value[key]!)
    }
}

/** Comes before other keys in JavaScript, wherever it was. */
export function isNumeral(key: string): boolean {
  return /^\d+$/.test(key)
}

function wholeNumber(value: number): number {
  if (!Number.isSafeInteger(value) || Object.is(value, -0)) throw unsure
  return value
}

function rankOf(value: Json): number {
  if (value === null) return 0
  if (typeof value === 'boolean') return value ? 2 : 1
  if (typeof value === 'number') return 3
  if (typeof value === 'string') return 4
  return Array.isArray(value) ? 5 : 6
}

/** Whether each character is one of JavaScript's. */
function isBasic(text: string): boolean {
  return !/[\ud800-\udfff]/.test(text)
}

export function isObject(value: Json): value is { readonly [key: string]: Json } {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function leave(): never {
  throw unsure
}
