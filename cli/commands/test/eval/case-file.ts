// The file of one case of `natter eval`: what the world holds, what the agent is asked to do, and what must be so afterwards. Read against a
// shape, so that a mistake is named by its line and key.

import { statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { problemIn } from '../../../../daemon/api/checking.ts'
import {
  anything,
  eitherOf,
  keyed,
  listOf,
  maybe,
  natural,
  num,
  oneOf,
  record,
  type Static,
  textUpTo,
} from '../../../../daemon/api/define.ts'
import { levelForms, readLevel } from '../../../../daemon/api/levels/releases.ts'
import { compilePattern, patternIn } from '../../../../daemon/api/pattern.ts'
import { readText, smallFile } from '../../../../daemon/local/bounded-file.ts'
import { unknownName } from '../../../../daemon/local/did-you-mean.ts'
import { readYaml, YamlMistake } from '../../../../daemon/local/yaml.ts'
import { usage } from '../../../base/failure.ts'

/** Seconds. */
const longestBudget = 3600

const name = textUpTo(200)
/** A text that must be equal, or `/…/` for a pattern. */
const pattern = textUpTo(2000)

const messagePattern = record({
  channel: maybe(pattern),
  topic: maybe(pattern),
  direct_with: maybe(listOf(name, 50)),
  sender: maybe(pattern),
  content: maybe(pattern),
  /** A reaction that the message must have, by name. */
  reaction: maybe(name),
  /** How many messages must match; at least one if absent. */
  count: maybe(natural),
})

const shape = record({
  name: maybe(name),
  preset: maybe(oneOf('empty', 'dev')),
  seed: maybe(textUpTo(1000)),
  clock: maybe(name),
  /** The feature level: a number, a release or `latest`. */
  level: maybe(eitherOf(num, name)),
  as: maybe(name),
  task: textUpTo(10_000),
  /** Where the task is also sent as a message, and by whom. */
  message: maybe(record({ from: name, channel: maybe(name), topic: maybe(name), to: maybe(name) })),
  expect: record({
    messages: maybe(listOf(messagePattern, 100)),
    no_messages: maybe(listOf(messagePattern, 100)),
    /** Resources that may differ afterwards; any if absent. */
    only_changes: maybe(listOf(name, 100)),
    /** Parts of the difference that must be there, with patterns for their fields. */
    changes: maybe(
      listOf(
        record({ resource: name, kind: maybe(oneOf('added', 'changed', 'removed')), with: maybe(keyed(anything)) }),
        100,
      ),
    ),
    /** Endpoints that must not be called, by ID; `*` matches any part. */
    no_calls: maybe(listOf(name, 100)),
  }),
  budget: maybe(record({ seconds: maybe(num), calls: maybe(natural) })),
})

export type MessagePattern = Static<typeof messagePattern>
type Written = Static<typeof shape>
export type Case = Omit<Written, 'level'> & { readonly name: string; readonly file: string; readonly level?: number }

export async function readCase(file: string): Promise<Case> {
  const { value, findLine } = await readYaml(readSource(file)).catch(error => {
    throw error instanceof YamlMistake ? usage(`${file}, line ${error.line}: ${error.message}`) : error
  })
  const problem = findProblem(shape, value, []) ?? contradictionIn(value as Written, file)
  if (problem) throw usage(`${file}, line ${findLine(problem.path)}: ${problem.text}`)
  const { name: given, level, ...rest } = value as Written
  return {
    ...rest,
    ...(level !== undefined && { level: readLevel(level)! }),
    name: given ?? file.replace(/^.*\//, '').replace(/\.ya?ml$/, ''),
    file,
  }
}

function readSource(file: string): string {
  try {
    return readText(file, smallFile)
  } catch (error) {
    throw usage(`cannot read ${file}: ${(error as NodeJS.ErrnoException).code}`)
  }
}

interface Problem {
  readonly path: readonly (string | number)[]
  readonly text: string
}

/** Refuses cases that have the right shape and still cannot be run. */
function contradictionIn({ level, seed, message, expect, budget }: Written, file: string): Problem | undefined {
  if (level !== undefined && readLevel(level) === undefined)
    return { path: ['level'], text: `level takes ${levelForms}, not "${level}"` }
  // A pipe or a terminal would keep the command waiting.
  if (seed !== undefined && !statSync(seedFile(file, seed), { throwIfNoEntry: false })?.isFile())
    return { path: ['seed'], text: `seed: there is no file ${seedFile(file, seed)}` }
  if (message && (message.channel === undefined) === (message.to === undefined))
    return { path: ['message'], text: 'message needs one of the keys channel and to' }
  const seconds = budget?.seconds ?? 1
  if (!(seconds > 0 && seconds <= longestBudget))
    return {
      path: ['budget', 'seconds'],
      text: `budget.seconds must be at most ${longestBudget}, and more than 0`,
    }
  return brokenPatternIn(expect, ['expect'])
}

/** A seed is a file beside the case. */
export function seedFile(caseFile: string, seed: string): string {
  return resolve(dirname(caseFile), seed)
}

function brokenPatternIn(value: unknown, path: readonly (string | number)[]): Problem | undefined {
  if (typeof value === 'string') {
    const pattern = patternIn(value)
    const compiled = pattern && compilePattern(pattern.source, pattern.flags)
    return compiled && 'problem' in compiled
      ? { path, text: `${path.join('.')}: ${value} ${compiled.problem}` }
      : undefined
  }
  if (typeof value !== 'object' || value === null) return undefined
  for (const [key, item] of Object.entries(value)) {
    const found = brokenPatternIn(item, [...path, Array.isArray(value) ? Number(key) : key])
    if (found) return found
  }
  return undefined
}

/** Unknown keys are refused: a misspelled expectation would always hold. */
function findProblem(type: any, value: unknown, path: readonly (string | number)[]): Problem | undefined {
  const place = path.length === 0 ? 'the case' : path.join('.')
  if (value === null) return { path, text: `${place} has no value` }
  if (type.type === 'object' && type.properties) {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return { path, text: `${place} must be a list of keys` }
    const known = Object.keys(type.properties)
    for (const key of Object.keys(value))
      if (!known.includes(key)) return { path: [...path, key], text: unknownName('key', key, known) }
    for (const key of type.required ?? [])
      if (!Object.hasOwn(value, key)) return { path, text: `${place} needs the key ${key}` }
    for (const [key, item] of Object.entries(value)) {
      const found = findProblem(type.properties[key], item, [...path, key])
      if (found) return found
    }
    return undefined
  }
  if (type.type === 'array' && Array.isArray(value) && value.length <= type.maxItems) {
    for (const [index, item] of value.entries()) {
      const found = findProblem(type.items, item, [...path, index])
      if (found) return found
    }
    return undefined
  }
  const text = problemIn(place, type, value)
  return text === undefined ? undefined : { path, text }
}
