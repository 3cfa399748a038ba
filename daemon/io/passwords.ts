// Passwords are kept as scrypt hashes. One hash is made at a time, so that the threads that write the disk stay free. The
// others wait, those of each world in a line of bounded length; worlds take turns.

import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'

/** Of a hash that can be checked: 128 MiB of memory. A forged store or snapshot must not ask for more. */
const highestCost = 131_072

/** Takes the place of a hash where there is no password: nothing matches it. */
export const noPassword = `scrypt$0$${'A'.repeat(22)}==$`

/** Whose hash is next. The process has one: what it protects, the threads that write the disk, is there once too. */
export class Turns {
  /** Lines that are not empty, the one whose turn is next first. */
  readonly #lines = new Set<(() => void)[]>()
  #busy = false

  /** Resolves when it is the caller's turn, who then has to call `next`. */
  async take(line: (() => void)[]): Promise<void> {
    if (this.#busy)
      await new Promise<void>(resolve => {
        line.push(resolve)
        this.#lines.add(line)
      })
    this.#busy = true
  }

  /** `#busy` stays set until the next one goes on, so that no other hash gets in between. */
  next(): void {
    const [line] = this.#lines
    if (!line) {
      this.#busy = false
      return
    }
    this.#lines.delete(line)
    const go = line.shift()!
    if (line.length > 0) this.#lines.add(line)
    go()
  }
}

const turns = new Turns()

export class Passwords {
  readonly #cost: number
  readonly #refuse: (seconds: number) => Error
  readonly #lineLength: number
  readonly #line: (() => void)[] = []

  /**
   * `cost` is the N of scrypt for new hashes. `refuse` makes what is thrown when the line is full, from the seconds until it is worth to
   * try again.
   */
  constructor(cost: number, refuse: (seconds: number) => Error, lineLength = 100) {
    this.#cost = cost
    this.#refuse = refuse
    this.#lineLength = lineLength
  }

  async hashPassword(password: string): Promise<string> {
    const salt = randomBytes(16)
    const hash = await this.#derive(password, salt, this.#cost)
    return `scrypt$${this.#cost}$${salt.toString('base64')}$${hash.toString('base64')}`
  }

  async verifyPassword(password: string, hash: string | undefined): Promise<boolean> {
    // A text from a file may be no hash: then nothing matches it, either.
    const [, n, salt = '', wanted = ''] = (hash ?? noPassword).split('$')
    const known = Buffer.from(wanted, 'base64')
    const isUsable = known.length > 0 && isCost(Number(n))
    // Without a password the answer takes as long as with one, so that the time does not tell which accounts have none.
    const given = await this.#derive(password, Buffer.from(salt, 'base64'), isUsable ? Number(n) : this.#cost)
    return isUsable && known.length === given.length && timingSafeEqual(given, known)
  }

  /** A hash takes about 50 ms with N = 16384, and grows with N. */
  #secondsOfLine(): number {
    return Math.ceil((this.#lineLength * 0.05 * this.#cost) / 16_384)
  }

  async #derive(password: string, salt: Buffer, n: number): Promise<Buffer> {
    if (this.#line.length >= this.#lineLength) throw this.#refuse(this.#secondsOfLine())
    await turns.take(this.#line)
    try {
      return await runScrypt(normalize(password), salt, n)
    } finally {
      turns.next()
    }
  }
}

/**
 * So that the same password typed on another keyboard is the same. Combining marks in a row are put in order, which
 * takes time that grows with the square of their number: no language has 30 of them, and such a text stays as it is.
 */
function normalize(password: string): string {
  return /\p{M}{30}/u.test(password) ? password : password.normalize('NFKC')
}

function isCost(n: number): boolean {
  return n > 1 && n <= highestCost && Number.isInteger(Math.log2(n))
}

function runScrypt(text: string, salt: Buffer, n: number): Promise<Buffer> {
  return new Promise((resolve, reject) =>
    scrypt(text, salt, 32, { N: n, r: 8, p: 1, maxmem: 2 * 128 * 8 * highestCost }, (error, key) =>
      error ? reject(error) : resolve(key),
    ),
  )
}
