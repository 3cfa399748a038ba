// Seed files: JSON or YAML. A mistake is reported with its line, whether in the format or in what the seed asks for.

import { largeFile, readText } from '../local/bounded-file.ts'
import { parseJson, tooDeep } from '../local/nesting.ts'
import { linesIn, readYaml, YamlMistake } from '../local/yaml.ts'
import { checkSeed, formatPath, type Seed, SeedMistake, SeedRefused } from './format.ts'

interface SeedFile {
  readonly seed: Seed
  /** Turns a mistake into a sentence that names file and line; anything else stays what it is. */
  explain(error: unknown): Promise<unknown>
}

export async function readSeedFile(file: string): Promise<SeedFile> {
  return readSeedText(file, readGiven(file), /\.ya?ml$/i.test(file))
}

/** A seed in a request. What begins like an object in JSON is JSON. */
export async function readSentSeed(text: string): Promise<SeedFile> {
  const isYaml = !/^\s*\{/.test(text)
  const isLong = text.length > longestSentYaml
  if (isYaml && isLong)
    throw new SeedRefused(`the seed has more than ${longestSentYaml} characters of YAML; send it as JSON`)
  return readSeedText('the seed', text, isYaml, isLong)
}

/** Characters. The library reads about 100,000 a second, and other callers of the daemon wait meanwhile. */
const longestSentYaml = 65_536

async function readSeedText(file: string, text: string, isYaml: boolean, withoutLines = false): Promise<SeedFile> {
  const explain = async (error: unknown) => {
    if (!(error instanceof SeedMistake)) return error
    const line = withoutLines ? undefined : (await linesIn(text))(error.path)
    return new SeedRefused(sentence(file, line, error))
  }
  try {
    return { seed: checkSeed(await parse(file, text, isYaml)), explain }
  } catch (error) {
    throw await explain(error)
  }
}

function readGiven(file: string): string {
  try {
    return readText(file, largeFile)
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? ''
    // A text has at most about 512 MiB.
    if (/TOO_LONG$|^more than/.test(code))
      throw new SeedRefused(`the seed ${file} is too large; start from a file of natter snapshot export, with --from`)
    throw new SeedRefused(`the seed ${file} cannot be read: ${code}`)
  }
}

// YAML is loaded for YAML, and for JSON only when the place of a mistake is to be found.
async function parse(file: string, text: string, isYaml: boolean): Promise<unknown> {
  if (!isYaml) {
    try {
      return parseJson(text)
    } catch (error) {
      const line = tooDeep(text) ? 1 : brokenLine(text)
      throw new SeedRefused(`${file}, line ${line}: ${firstLine((error as Error).message)}`)
    }
  }
  try {
    // A file with comments only is an empty seed.
    return (await readYaml(text)).value ?? {}
  } catch (error) {
    if (!(error instanceof YamlMistake)) throw error
    throw new SeedRefused(`${file}, line ${error.line}: ${error.message}`)
  }
}

/** Not every version of node says where. The mistake is in the first line after which more text could not mend it. */
function brokenLine(text: string): number {
  const lines = text.split('\n')
  let [fine, broken] = [0, lines.length]
  while (broken - fine > 1) {
    const middle = Math.floor((fine + broken) / 2)
    if (isBeginning(lines.slice(0, middle).join('\n'))) fine = middle
    else broken = middle
  }
  return broken
}

function isBeginning(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch (error) {
    return /end of JSON input/.test((error as Error).message)
  }
}

function sentence(file: string, line: number | undefined, { path, message }: SeedMistake): string {
  const place = formatPath(path)
  return `${file}${line === undefined ? '' : `, line ${line}`}: ${place === '' ? 'the seed' : place} ${message}`
}

function firstLine(message: string): string {
  return message.split('\n', 1)[0]!
}
