// The first start of a store: the organization, its owner, and what the preset and the seed file add.

import { setImmediate as rest } from 'node:timers/promises'
import founding from '../../data/seed.json' with { type: 'json' }
import { readLevel } from '../api/levels/releases.ts'
import type { Fact } from '../domain/facts.ts'
import { State } from '../domain/model/state.ts'
import { findMissingSystemBots, found, otherSystemBots } from '../domain/organization/founding.ts'
import { checkFreeEmail } from '../domain/people/users/checks.ts'
import { keepUploads } from '../io/saved-uploads.ts'
import { Replay } from '../replay.ts'
import type { Config } from '../start/config.ts'
import { readSeedFile, readSentSeed } from './file.ts'
import { checkSeed, formatPath, type Seed, SeedMistake, SeedRefused } from './format.ts'
import { type SeedContext, type SeedSource, seedFacts } from './seed-facts.ts'

/** A seed in JSON or YAML that is in no file. */
export class SeedText {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

export async function firstFacts(
  config: Pick<Config, 'org' | 'owner' | 'preset' | 'seed'>,
  context: SeedContext,
): Promise<readonly Fact[]> {
  const seeds = await loadSeeds(config)
  const level = seeds.findLast(({ seed }) => seed.level !== undefined)?.seed.level
  if (level !== undefined) context.chooseLevel?.(readLevel(level)!)
  // A whole organization takes the place of what would come before it.
  const base = seeds.findLastIndex(({ seed }) => seed.rows !== undefined)
  if (base >= 0) return seedFacts(await takeRows(seeds[base]!, config, context), seeds.slice(base), context)
  const said = Object.assign({}, ...seeds.map(({ seed }) => seed.organization)) as NonNullable<Seed['organization']>
  const owner = Object.assign({}, ...seeds.map(({ seed }) => seed.owner)) as NonNullable<Seed['owner']>
  const organization = {
    name: config.org ?? said.name ?? founding.organization.name,
    description: said.description ?? founding.organization.description,
  }
  const { emailDomain, level: served } = context.surroundings.server
  const beginning = found(
    {
      ...founding,
      organization,
      owner: { ...founding.owner, ...owner, email: await chooseEmail(config, seeds, context) },
    },
    emailDomain,
    context.now,
    served.rules.avatarsDrawn,
  )
  const facts = seeds.length === 0 ? [beginning] : await seedFacts([beginning], seeds, context)
  const newest = facts.reduce((id, fact) => (fact.type === 'user.created' ? fact.user.id : id), beginning.users.length)
  const bots = otherSystemBots(founding, emailDomain, context.now, newest + 1)
  return [...facts, ...bots.map(user => ({ type: 'user.created' as const, user }))]
}

/** The address of the owner. It must be free in an organization that has the system bots only. */
async function chooseEmail(
  { owner }: Pick<Config, 'owner'>,
  seeds: readonly SeedSource[],
  { now, surroundings }: SeedContext,
): Promise<string> {
  const { emailDomain } = surroundings.server
  const beginning = found(founding, emailDomain, now)
  const [notificationBot] = beginning.users
  const users = [notificationBot!, ...otherSystemBots(founding, emailDomain, now, 2)]
  const state = buildState([{ ...beginning, users }])
  if (owner !== undefined) return checkFreeEmail(state, '--owner', owner)
  const source = seeds.findLast(({ seed }) => seed.owner?.email !== undefined)
  if (!source) return founding.owner.email
  try {
    return checkFreeEmail(state, 'email', source.seed.owner!.email!)
  } catch (error) {
    throw await source.explain(new SeedMistake(['owner', 'email'], `is refused: ${(error as Error).message}`))
  }
}

/** What an organization that was founded by an earlier version lacks. */
export function laterFacts(state: State, now: number): Fact[] {
  return findMissingSystemBots(founding, state, now).map(user => ({ type: 'user.created', user }))
}

/** The state that the facts of a first start leave. */
export function buildState(facts: readonly Fact[]): State {
  const replay = new Replay()
  replay.take(facts)
  return replay.state
}

/** Rows are not decided again as the other sections are, so they are checked to be rows of an organization. */
async function takeRows(
  { seed, explain }: SeedSource,
  { org, owner }: Pick<Config, 'org' | 'owner'>,
  { tools }: SeedContext,
): Promise<Fact[]> {
  const sections = seed.rows as Record<string, object[]>
  const mistake = async (message: string) => explain(new SeedMistake(['rows'], message))
  if (org !== undefined || owner !== undefined || seed.owner !== undefined)
    throw await mistake('hold an organization with an owner already; leave out --org, --owner and owner')
  const unknown = Object.keys(sections).find(name => !(name in new State().save()))
  if (unknown !== undefined) throw await explain(new SeedMistake(['rows', unknown], 'is not a section of rows'))
  const { loadChecked, RowsRefused } = await import('../domain/row-checks/index.ts')
  const uploads = seed.uploads ?? []
  try {
    const state = await loadChecked({ ...sections, uploads }, rest, { isSent: true })
    await keepUploads(uploads, state, tools.keepFile)
  } catch (error) {
    const path = error instanceof RowsRefused && error.path[0] !== 'uploads' ? error.path : []
    throw await explain(new SeedMistake(['rows', ...path], `cannot be used: ${(error as Error).message}`))
  }
  return [{ type: 'store.restored', sections }]
}

async function loadSeeds({ preset, seed }: Pick<Config, 'preset' | 'seed'>): Promise<SeedSource[]> {
  const seeds: SeedSource[] = []
  // Loaded only when it is used.
  if (preset === 'dev') {
    const { default: dev } = await import('../../data/presets/dev.json', { with: { type: 'json' } })
    seeds.push({ seed: checkSeed(dev), explain: placeMistake })
  }
  // A program gives a seed as an object or as a text, the command line as a file.
  if (seed instanceof SeedText) seeds.push(await readSentSeed(seed.text))
  else if (typeof seed === 'object') seeds.push({ seed: await readGivenSeed(seed), explain: placeMistake })
  else if (seed !== undefined) seeds.push(await readSeedFile(seed))
  return seeds
}

async function readGivenSeed(seed: unknown): Promise<Seed> {
  try {
    return checkSeed(seed)
  } catch (error) {
    throw await placeMistake(error)
  }
}

/** Without a file there is no line, but there is a place. */
async function placeMistake(error: unknown): Promise<unknown> {
  if (!(error instanceof SeedMistake)) return error
  return new SeedRefused(`${formatPath(error.path) || 'the seed'} ${error.message}`)
}
