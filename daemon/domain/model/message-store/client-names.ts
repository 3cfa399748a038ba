// The programs messages were sent with, by number: a message keeps two bytes instead of the name.

const highest = 0xffff

export class ClientNames {
  readonly #names: string[] = []
  readonly #numbers = new Map<string, number>()

  get(number: number): string {
    return this.#names[number]!
  }

  assignNumber(name: string): number {
    let number = this.#numbers.get(name)
    if (number === undefined) {
      number = Math.min(this.#names.length, highest)
      this.#numbers.set(name, number)
      if (number === this.#names.length) this.#names.push(name)
    }
    return number
  }

  save(): string[] {
    return [...this.#names]
  }
}
