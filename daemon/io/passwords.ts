// Passwords are kept as scrypt hashes. One hash is made at a time: the others wait in a line of bounded length, and the
// threads that write the disk stay free.

import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'

const cost = { N: 16384, r: 8, p: 1 }

/** A line of 100, at about 50 ms each. */
const retrySeconds = 5

/** Takes the place of a hash where there is no password: nothing matches it. */
export const noPassword = `scrypt$${cost.N}$${'A'.repeat(22)}==$`

export class Passwords {
  readonly #refuse: (seconds: number) => Error
  readonly #lineLength: number
  readonly #waiting: (() => void)[] = []
  #busy = false

  /** `refuse` makes what is thrown when the line is full, from the seconds until it is worth to try again. */
  constructor(refuse: (seconds: number) => Error, lineLength = 100) {
    this.#refuse = refuse
    this.#lineLength = lineLength
  }

  async hashPassword(password: string): Promise<string> {
    const salt = randomBytes(16)
    const hash = await this.#derive(password, salt, cost.N)
    return `scrypt$${cost.N}$${salt.toString('base64')}$${hash.toString('base64')}`
  }

  async verifyPassword(password: string, hash: string | undefined): Promise<boolean> {
    const [, n, salt, wanted] = (hash ?? noPassword).split('$')
    const given = await this.#derive(password, Buffer.from(salt!, 'base64'), Number(n))
    const known = Buffer.from(wanted!, 'base64')
    return known.length === given.length && timingSafeEqual(given, known)
  }

  async #derive(password: string, salt: Buffer, n: number): Promise<Buffer> {
    await this.#turn()
    try {
      return await scryptOf(normalized(password), salt, n)
    } finally {
      // The next in line goes on. `#busy` stays set meanwhile, so that nobody gets in between.
      const next = this.#waiting.shift()
      if (next) next()
      else this.#busy = false
    }
  }

  async #turn(): Promise<void> {
    if (this.#busy) {
      if (this.#waiting.length >= this.#lineLength) throw this.#refuse(retrySeconds)
      await new Promise<void>(resolve => this.#waiting.push(resolve))
    }
    this.#busy = true
  }
}

/**
 * So that the same password typed on another keyboard is the same. Combining marks in a row are put in order, which
 * takes time that grows with the square of their number: no language has 30 of them, and such a text stays as it is.
 */
function normalized(password: string): string {
  return /\p{M}{30}/u.test(password) ? password : password.normalize('NFKC')
}

function scryptOf(text: string, salt: Buffer, n: number): Promise<Buffer> {
  return new Promise((resolve, reject) =>
    scrypt(text, salt, 32, { ...cost, N: n }, (error, key) => (error ? reject(error) : resolve(key))),
  )
}
