// Lists of numbers by number, which only grow, all in one place: adding to ten thousand lists writes ten thousand links in
// a row, instead of growing as many arrays.

const none = -1

export class Chains {
  /** By key: the newest link. */
  #newest = new Int32Array(0)
  #values = new Int32Array(1024)
  /** By link: the one before it in the same list. */
  #before = new Int32Array(1024)
  #links = 0

  add(key: number, value: number): void {
    // Another key would begin no list of its own, and its links would go round in a circle.
    if (!(Number.isInteger(key) && key >= 0)) throw new RangeError(`${key} is not an ID`)
    if (key >= this.#newest.length) this.#newest = grown(this.#newest, key + 1, none)
    if (this.#links === this.#values.length) {
      this.#values = grown(this.#values, this.#links + 1)
      this.#before = grown(this.#before, this.#links + 1)
    }
    this.#values[this.#links] = value
    this.#before[this.#links] = this.#newest[key]!
    this.#newest[key] = this.#links++
  }

  /** In the order they were added. */
  of(key: number): number[] {
    const values: number[] = []
    for (let link = this.#newest[key] ?? none; link !== none; link = this.#before[link]!)
      values.push(this.#values[link]!)
    return values.reverse()
  }
}

/** Far more than there are users or subscriptions: an ID above it is a mistake, and would only take memory. */
const longest = 2 ** 27

/** At least so long, and at least twice as long as before. */
export function grown(array: Int32Array<ArrayBuffer>, length: number, fill = 0): Int32Array<ArrayBuffer> {
  if (!(length <= longest)) throw new RangeError(`${length} is not a number of rows`)
  const larger = new Int32Array(Math.max(length, array.length * 2))
  larger.set(array)
  return larger.fill(fill, array.length)
}
