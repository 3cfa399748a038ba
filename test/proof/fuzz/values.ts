// From a shape of the catalogue to values that a hostile or a confused caller could send: mostly of the right form and
// about things that exist, sometimes at a bound, sometimes of another form.

import type { TSchema } from '@sinclair/typebox'
import type { Endpoint, Upload } from '../../../daemon/api/define.ts'

export type Random = () => number

/** IDs of the accounts that make the calls: a call that would end one of them ends the campaign early. */
export interface Spared {
  readonly ids: ReadonlySet<number>
  readonly emails: ReadonlySet<string>
}

const words = [
  '',
  ' ',
  'general',
  'leads',
  'engineering',
  'beans',
  'amy@example.com',
  'bob@example.com',
  'cat@example.com',
  '@**all** and @**Amy Adams**',
  '#**general>beans** https://example.com/a.png',
  '```quote\n> deep\n```',
  '/poll Lunch?\npizza',
  '[x](/user_uploads/1/ab/x.txt)',
  '\u0000',
  '\u202e\u001b[31m',
  'javascript:alert(1)',
  '__proto__',
  'constructor',
  'valueOf',
  '☃'.repeat(50),
  '😀👩‍👩‍👧‍👦',
  "'; DROP TABLE users; --",
  '{"a":[1]}',
  '-1',
  '1e999',
  '99999999999999999999',
]

export class Values {
  readonly #random: Random
  readonly #spared: Spared

  constructor(random: Random, spared: Spared) {
    this.#random = random
    this.#spared = spared
  }

  /** Fields as they travel: text, or files. */
  fields(endpoint: Endpoint): Map<string, string | Upload> {
    const fields = new Map<string, string | Upload>()
    for (const [name, { shape, presence }] of Object.entries(endpoint.params)) {
      if (presence === 'path' || (presence !== 'required' && this.#random() < 0.6) || this.#random() < 0.02) continue
      const value = this.of(shape, endpoint.method === 'GET')
      fields.set(
        name,
        isFile(value) ? value : typeof value === 'string' ? value : (JSON.stringify(value) ?? 'undefined'),
      )
    }
    if (this.#random() < 0.05) fields.set(this.#pick(words), this.#pick(words))
    return fields
  }

  path(endpoint: Endpoint): string {
    return endpoint.path.replace(/\{(\w+)(\.\.\.)?\}/g, (_all, name: string) => {
      const value = this.of(endpoint.params[name]!.shape, endpoint.method === 'GET')
      return encodeURIComponent(typeof value === 'string' ? value || 'x' : (JSON.stringify(value) ?? 'x'))
    })
  }

  of(shape: TSchema, harmless: boolean): unknown {
    const dice = this.#random()
    if (dice < 0.03) return this.#pick([null, true, -1, 1.5, 2 ** 53, [], {}, [[[]]], { a: { b: 1 } }, ...words])
    if (shape.const !== undefined) return shape.const
    if (Array.isArray(shape.anyOf)) return this.of(this.#pick(shape.anyOf as TSchema[]), harmless)
    if (shape.format === 'binary') return this.#file()
    switch (shape.type) {
      case 'string':
        return this.#text(shape, harmless)
      case 'integer':
        return this.#number(shape, harmless)
      case 'number':
        return this.#pick([0, 1, -1, 0.5, 1e300])
      case 'boolean':
        return this.#random() < 0.5
      case 'null':
        return null
      case 'array':
        return Array.from({ length: this.#size(shape.maxItems) }, () => this.of(shape.items, harmless))
      case 'object':
        return this.#object(shape, harmless)
      default:
        return this.#pick([true, 'x', [1], { a: 1 }])
    }
  }

  #text(shape: TSchema, harmless: boolean): string {
    if (this.#random() < 0.02)
      return this.#pick(['x', '☃', '[', '*', '> ', '\u0301']).repeat(Math.min(shape.maxLength, 12_000))
    const word = this.#pick(words)
    return !harmless && this.#spared.emails.has(word) ? 'nobody@example.com' : word
  }

  #number(shape: TSchema, harmless: boolean): number {
    const dice = this.#random()
    if (dice < 0.05) return this.#pick([shape.minimum ?? 0, shape.maximum ?? 2 ** 53, -1, 0])
    const id = 1 + Math.floor(this.#random() * (dice < 0.7 ? 25 : 400))
    // Only as much harm as leaves an account to make the next call.
    return !harmless && this.#spared.ids.has(id) ? 9999 : id
  }

  #object(shape: TSchema, harmless: boolean): object {
    const made: [string, unknown][] = []
    for (const [name, part] of Object.entries<TSchema>(shape.properties ?? {}))
      if ((shape.required ?? []).includes(name) || this.#random() < 0.5) made.push([name, this.of(part, harmless)])
    for (const part of Object.values<TSchema>(shape.patternProperties ?? {}))
      for (let left = this.#size(shape.maxProperties); left > 0; left--)
        made.push([this.#pick(words), this.of(part, harmless)])
    return Object.fromEntries(made)
  }

  #file(): Upload {
    const bytes = this.#pick([
      Buffer.alloc(0),
      Buffer.from('plain text'),
      Buffer.from('P3\n'.padEnd(5000, '#\n')),
      Buffer.from('GIF89a\u0001\u0000\u0001\u0000'.padEnd(40, '\u0000'), 'latin1'),
      Buffer.concat([Buffer.from([0xff, 0xd8, 0xff]), Buffer.alloc(2000, 0xff)]),
    ])
    return { filename: this.#pick(['a.txt', 'a.png', '..%2f..%2fx', 'ü.svg']), contentType: 'image/png', bytes }
  }

  #size(most = 10): number {
    const dice = this.#random()
    return Math.min(most, dice < 0.3 ? 0 : dice < 0.95 ? 1 + Math.floor(dice * 4) : 200)
  }

  #pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.#random() * list.length)]!
  }
}

function isFile(value: unknown): value is Upload {
  return typeof value === 'object' && value !== null && 'bytes' in value
}
