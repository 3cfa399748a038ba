// The secret that all API keys are derived from: read from the store, compared with what the store remembers of it, kept.

import { createHmac } from 'node:crypto'
import { renameSync } from 'node:fs'
import { join } from 'node:path'
import { writeFileAtomicallySync } from '../local/atomic-file.ts'
import { readText, smallFile } from '../local/bounded-file.ts'
import { newSecret } from './keys.ts'

/** Ours have 64 characters; one of a few could be guessed. */
const shortest = 16

/** Of a store or a backup without it. */
export const noSecret =
  "there is no file 'secret': the daemon needs the old one with --secret-file, or --new-secret once, which changes all API keys"

export interface Secret {
  readonly text: string
  /** What the store remembers to notice another secret. */
  readonly verifier: string
  /** Whether it was made just now, because neither the flags nor the store had one. */
  readonly isNew: boolean
  /** Sees to it that the store has this secret, or none. */
  keep(): void
}

class SecretRefused extends Error {
  constructor(problem: string) {
    super(
      `${problem}. Every API key is derived from it, so every key would change. ` +
        'Put the old secret back, or start once with --new-secret to accept new keys',
    )
    this.name = 'SecretRefused'
  }
}

/**
 * A secret that was given, by flag for instance, is never written to the store. Another one in the folder is put aside: backups would take
 * it in, and could not be restored.
 */
export function givenSecret(text: string, folder?: string): Secret {
  const keep = () => {
    if (folder === undefined) return
    const file = join(folder, 'secret')
    const found = readIfThere(file)
    if (found !== undefined && found.trim() !== text) renameSync(file, `${file}.replaced`)
  }
  return { text, verifier: computeVerifier(text), isNew: false, keep }
}

/** In a file of its own, so that a store can be shared as a fixture without its keys. */
export function storedSecret(folder: string, replace: boolean): Secret {
  const file = join(folder, 'secret')
  const found = readIfThere(file)?.trim()
  if (found !== undefined && found.length >= shortest) return givenSecret(found)
  if (found !== undefined && !replace)
    throw new SecretRefused(
      `${file} ${found === '' ? 'is empty' : `has ${found.length} characters; the secret needs at least ${shortest}`}`,
    )
  const text = newSecret()
  return {
    text,
    verifier: computeVerifier(text),
    isNew: true,
    keep: () => writeFileAtomicallySync(file, `${text}\n`),
  }
}

/** Throws when the keys of existing accounts would change; `remembered` is undefined for stores of version 0.1.0. */
export function checkSecret(secret: Secret, remembered: string | undefined, hasUsers: boolean): void {
  if (hasUsers && secret.isNew) throw new SecretRefused("the store has accounts, but its file 'secret' is missing")
  if (hasUsers && remembered !== undefined && remembered !== secret.verifier)
    throw new SecretRefused('the secret is not the one that this store was used with')
}

/**
 * Four digits notice a changed secret in all but one of 65,536 cases. More would let a reader of a shared store
 * confirm a guess of a weak --secret.
 */
function computeVerifier(text: string): string {
  return createHmac('sha256', text).update('natter-secret').digest('hex').slice(0, 4)
}

function readIfThere(file: string): string | undefined {
  try {
    return readText(file, smallFile)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
