// Reads the text of a parameter according to its shape.

import type { TSchema } from '@sinclair/typebox'
import { tooDeep } from '../local/nesting.ts'

export const notJson = Symbol('not JSON')

/** What the text of a parameter can be, by its shape. */
export interface Reading {
  readonly string: boolean
  readonly stringOrNull: boolean
  readonly word: boolean
  readonly naturals: boolean
  readonly fractions: boolean
  readonly text: boolean
}

export function planReading(shape: TSchema): Reading {
  return {
    string: shape.type === 'string',
    stringOrNull: isStringOrNull(shape),
    word: isChoiceOfWords(shape),
    naturals: takesNaturals(shape),
    fractions: admitsFractions(shape),
    text: admitsText(shape),
  }
}

export function readValue({ string, stringOrNull, word, fractions, text }: Reading, raw: string): unknown {
  if (string) return raw
  // Strings travel raw, even those that look like numbers; null can only be written as the word.
  if (stringOrNull) return raw === 'null' || raw.startsWith('"') ? parse(raw, raw) : raw
  if (word) return raw.startsWith('"') ? parse(raw, raw) : raw
  if (tooDeep(raw)) return notJson
  return parse(fractions ? raw : quoteFractions(raw), text ? raw : notJson)
}

function takesNaturals({ type, items, anyOf }: TSchema): boolean {
  return Array.isArray(anyOf) ? anyOf.some(takesNaturals) : type === 'array' && takesNatural(items)
}

function takesNatural({ type, minimum, maximum, anyOf }: TSchema): boolean {
  if (Array.isArray(anyOf)) return anyOf.some(takesNatural)
  return type === 'integer' && minimum <= 0 && maximum === Number.MAX_SAFE_INTEGER
}

/**
 * A list of natural numbers in its shortest form, read digit by digit: lists of a hundred thousand IDs are common. Returns
 * undefined for any other form, which is then read as JSON.
 */
export function naturalsIn(raw: string): number[] | undefined {
  if (raw.charCodeAt(0) !== openBracket || raw.charCodeAt(raw.length - 1) !== closeBracket) return undefined
  const bytes = Buffer.from(raw)
  const end = bytes.length - 1
  // Not an array of a given size, which JSON.stringify takes three times as long to write.
  const numbers: number[] = []
  for (let at = 1; at <= end; at++) {
    const start = at
    let number = 0
    for (let digit = bytes[at]! ^ zero; digit < 10; digit = bytes[++at]! ^ zero) number = number * 10 + digit
    const digits = at - start
    // Up to fifteen digits are exact.
    if (digits === 0 || digits > 15 || (digits > 1 && bytes[start] === zero)) return undefined
    if (bytes[at] !== comma && at !== end) return undefined
    numbers.push(number)
  }
  return numbers
}

const openBracket = 0x5b
const closeBracket = 0x5d
const comma = 0x2c
const zero = 0x30

/** JSON.parse turns `12.0` and `1e3` into integers, which they are not: where only integers fit, they become text. */
function quoteFractions(json: string): string {
  if (!/\d[.eE]/.test(json)) return json
  return json.replace(/"(?:\\.|[^"\\])*"?|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g, token =>
    token.startsWith('"') || /^-?\d+$/.test(token) ? token : `"${token}"`,
  )
}

function admitsFractions(shape: TSchema): boolean {
  if (Array.isArray(shape.anyOf)) return shape.anyOf.some(admitsFractions)
  if (shape.type === 'array') return admitsFractions(shape.items)
  if (shape.type === 'object')
    return Object.values<TSchema>({ ...shape.properties, ...shape.patternProperties }).some(admitsFractions)
  return shape.type === undefined ? shape.const === undefined : shape.type === 'number'
}

/** JSON begins with one of these, or is one of the three words, or is a number from beginning to end. */
const mayBeJson = /^\s*(?:["[{]|(?:true|false|null|-?\d[\d.eE+-]*)\s*$)/

function parse(raw: string, otherwise: unknown): unknown {
  // Names arrive where JSON is possible; a thrown error would cost more than the rest of the request.
  if (!mayBeJson.test(raw)) return otherwise
  try {
    return JSON.parse(raw)
  } catch {
    return otherwise
  }
}

export function travelsRaw(shape: TSchema): boolean {
  return shape.type === 'string' || isChoiceOfWords(shape)
}

function isStringOrNull({ anyOf }: TSchema): boolean {
  return Array.isArray(anyOf) && anyOf.every(({ type }: TSchema) => type === 'string' || type === 'null')
}

function isChoiceOfWords(shape: TSchema): boolean {
  return Array.isArray(shape.anyOf) && shape.anyOf.every((part: TSchema) => typeof part.const === 'string')
}

function admitsText(shape: TSchema): boolean {
  return (
    shape.type === 'string' ||
    typeof shape.const === 'string' ||
    (Array.isArray(shape.anyOf) && shape.anyOf.some(admitsText))
  )
}
