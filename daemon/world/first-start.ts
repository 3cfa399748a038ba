// The start of a world: checks its secret, and founds the organization the first time, from a preset, a seed, a snapshot or an archive.

import { type Clock, SteeredClock } from '../clock.ts'
import type { Engine } from '../engine.ts'
import { checkSecret } from '../io/secret.ts'
import { warn } from '../local/warnings.ts'
import { firstFacts, laterFacts } from '../seed/found.ts'
import type { Config } from '../start/config.ts'
import type { Store } from '../store.ts'
import { readBase } from './snapshot-file.ts'

type SeedContext = Parameters<typeof firstFacts>[1]
type Settings = Pick<Config, 'clock' | 'from' | 'import' | 'org' | 'owner' | 'preset' | 'reactivate' | 'seed'>

/** Called before anything is written, so that an archive that cannot be imported leaves the store as it was. */
export async function checkImport({ import: file }: Pick<Config, 'import'>, { state }: Engine): Promise<void> {
  if (file === undefined) return
  if (!state.isEmpty())
    throw new Error('--import needs an empty store, and this one has an organization. Choose another folder.')
  await (await import('../seed/import.ts')).checkArchive(file)
}

/** Called before any key is given out: the keys of existing accounts change only with --new-secret. */
export async function agreeOnSecret(
  { memory, newSecret }: Pick<Config, 'memory' | 'newSecret'>,
  secret: Store['secret'],
  engine: Engine,
): Promise<void> {
  if (memory) return
  if (!newSecret) checkSecret(secret, engine.secretVerifier, engine.state.users.size > 0)
  secret.keep()
  const { verifier } = secret
  if (engine.secretVerifier !== verifier)
    await engine.record('change-secret', null, [{ type: 'store.secret-changed', verifier }])
}

interface Parts {
  readonly settings: Settings
  readonly store: Pick<Store, 'files'>
  readonly engine: Engine
  readonly clock: Clock
}

/** Does nothing if the store has an organization already. */
export async function foundOrganization(parts: Parts, context: () => SeedContext): Promise<void> {
  const { settings, store, engine, clock } = parts
  const op = 'found-organization'
  if (settings.from !== undefined) await foundFrom(settings.from, parts)
  if (settings.import !== undefined) {
    const { loadArchive } = await import('../seed/import.ts')
    await engine.adopt(await loadArchive(settings.import, store.files))
  } else if (engine.state.users.size === 0) {
    if (!engine.state.isEmpty()) throw new Error('the store has rows but no accounts; run natter store check')
    await engine.record(op, null, await firstFacts(settings, context()))
  } else if (engine.position > 0) warnOfFoundingFlags(settings)
  // Event IDs count from the first entry.
  if (engine.position === 0) await engine.record(op, null, [])
  const added = laterFacts(engine.state, clock.now())
  if (added.length > 0) await engine.record('add-system-bots', null, added)
  if (settings.reactivate) await reactivateOrganization(engine)
}

/** Of flags that only a new organization follows. */
function warnOfFoundingFlags({ preset, seed, owner, org }: Settings): void {
  const given = {
    preset: preset !== 'empty',
    seed: seed !== undefined,
    owner: owner !== undefined,
    org: org !== undefined,
  }
  const names = Object.entries(given).flatMap(([name, isGiven]) => (isGiven ? [`--${name}`] : []))
  if (names.length === 0) return
  warn(`the store already has an organization; ${names.join(', ')} ${names.length === 1 ? 'is' : 'are'} ignored`)
}

/** Begins with another organization, and with its time unless the flags give one. */
async function foundFrom(path: string, { settings, store, engine, clock }: Parts): Promise<void> {
  const base = await readBase(path, store.files)
  if (settings.clock === 'real' && clock instanceof SteeredClock) clock.jump(base.clock)
  await engine.restore('found-from-snapshot', base.sections)
}

/** No account can: none can log in. */
export async function reactivateOrganization(engine: Engine): Promise<void> {
  if (engine.state.organization.deactivated)
    await engine.record('reactivate-organization', null, [{ type: 'organization.reactivated' }])
}
