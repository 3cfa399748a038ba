// Feature levels and the releases that they belong to.

const oldestLevel = 417
export const newestLevel = 509

/** The level of the specification. */
export const defaultLevel = oldestLevel

/** Releases of the API family in this range, and the last level before each one's maintenance ends. */
const releases = [
  { name: '11.0', level: 421, last: 424 },
  { name: '12.0', level: 498, last: 499 },
  { name: '12.1', level: 500, last: 501 },
] as const

const nextRelease = '13.0'

export const levelForms = `a level from ${oldestLevel} to ${newestLevel}, a release (${releases.map(({ name }) => name).join(', ')}) or latest`

/** undefined for what has none of the forms. */
export function readLevel(given: string | number): number | undefined {
  // A seed in YAML or JSON that says 12.0 has the number 12.
  const text =
    typeof given === 'number' && given < oldestLevel && Number.isInteger(given) ? `${given}.0` : String(given)
  if (text === 'latest') return newestLevel
  const release = releases.find(({ name }) => name === text)
  if (release) return release.level
  const level = /^\d{3}$/.test(text) ? Number(text) : Number.NaN
  return level >= oldestLevel && level <= newestLevel ? level : undefined
}

/** The version that a server of this level reports: a release, or the development that leads to the next one. */
export function versionAt(level: number): string {
  const release = releases.find(({ level: first, last }) => level >= first && level <= last)
  if (release) return release.name
  return `${releases.find(({ level: first }) => level < first)?.name ?? nextRelease}-dev`
}
