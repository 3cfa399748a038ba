// The checksums of `state.json`, its last member: one for its head, one for each section. They show damage and accidental edits.
// A person who edits the file on purpose replaces them with "edited".
import { crc32 } from 'node:zlib'

export interface Sums {
  head: string
  readonly sections: Record<string, string>
}

const edited = 'edited'

export function isEdited(found: unknown): boolean {
  return found === edited
}

interface Head {
  readonly format: number
  readonly position: number
  readonly time: number
  readonly files?: readonly unknown[]
}

export function sumOfHead({ format, position, time, files = [] }: Head): string {
  return inHex(crc32(JSON.stringify([format, position, time, files])))
}

/** Over the rows as compact JSON with commas between them, so that it is the same after the file was reformatted. */
export function sumOfRows(rows: readonly unknown[]): string {
  return inHex(crc32(JSON.stringify(rows).slice(1, -1)))
}

/** The first thing that does not match, and the section it is in; the section is empty for the head. */
export function checkSums(found: unknown, wanted: Sums): { section: string; reason: string } | undefined {
  const { head, sections } = Object(found) as Partial<Sums>
  if (typeof head !== 'string' || typeof sections !== 'object' || sections === null)
    return problem('', 'the checksums are missing')
  if (head !== wanted.head) return problem('', 'format, position, time or files do not match their checksum')
  for (const name of Object.keys({ ...wanted.sections, ...sections }))
    if (sections[name] !== wanted.sections[name])
      return problem(name, `the rows of section ${JSON.stringify(name)} do not match their checksum`)
  return undefined
}

export function inHex(sum: number): string {
  return sum.toString(16).padStart(8, '0')
}

function problem(section: string, what: string): { section: string; reason: string } {
  const advice = `restore the file from a backup, or, if you edited it, replace the value of "sums" at its end with "${edited}"`
  return { section, reason: `${what}; ${advice}` }
}
