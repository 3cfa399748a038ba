// The part of jq that most expressions are made of, run here: for thousands of events, parsing JSON in WebAssembly takes many times
// as long as all the rest. What is not part of it, and every value that jq treats in a way of its own, is left to jq.

import {
  compare,
  difference,
  fieldOf,
  isNumeral,
  isObject,
  isSame,
  isTrue,
  itemOf,
  itemsOf,
  type Json,
  joined,
  jsonOf,
  lengthOf,
  oneOf,
  type Step,
  shown,
  sum,
  textIn,
  typeOf,
  unsure,
} from './jq-values.ts'

/** Takes JSON and returns the lines of `jq -r -c`; undefined if jq has to be asked. */
export type Quick = (json: string) => string | undefined

/** Undefined if the expression is not, or not only, made of what is known here. */
export function quickOf(expression: string): Quick | undefined {
  let step: Step
  try {
    step = new Parser(tokensOf(expression)).program()
  } catch (error) {
    if (error === unsure) return undefined
    throw error
  }
  return json => {
    if (strange.test(json)) return undefined
    let lines = ''
    try {
      step(JSON.parse(json) as Json, value => {
        lines += `${shown(value)}\n`
      })
    } catch (error) {
      // Also of a text that is not JSON, or nested too deeply: jq says what is wrong.
      if (error === unsure || error instanceof SyntaxError || error instanceof RangeError) return undefined
      throw error
    }
    return lines
  }
}

/** Numbers that jq prints as they were written, and characters that it escapes in another way. May also match inside a string. */
const strange = /[:,[]-?\d+[.eE]|\d{16}|\\u|\x7f/

const words = /^[A-Za-z_]\w*$/
const keywords = new Set(
  'def if then elif else end as reduce foreach try catch label import include and or not __loc__'.split(' '),
)

/** Texts with their quotes, numbers, words, and marks. */
function tokensOf(expression: string): string[] {
  const pattern = /\s+|"(?:[^"\\\n\x7f]|\\[^(u])*"|\d+|[A-Za-z_]\w*|\?\/\/|\/\/|[=!<>]=|[.,|()[\]{}:?<>+-]/y
  const tokens: string[] = []
  for (let at = 0; at < expression.length; at = pattern.lastIndex) {
    const last = tokens.at(-1) ?? ''
    pattern.lastIndex = at
    const found = pattern.exec(expression)
    const [token] = found ?? leave()
    // Not known here: comments, variables, formats, interpolation and much more; and `..`, `1.` and `1a`, which jq splits otherwise.
    const adjacent = /^\d+$/.test(last) && !/\s/.test(expression[at - 1]!)
    if (token === '.' ? adjacent || last === '.' : adjacent && words.test(token)) throw unsure
    // After a dot, a space ends the path.
    if (token.trim() !== '') tokens.push(token)
    else if (last === '.') tokens.push(' ')
  }
  return tokens
}

/** From the operators that bind loosely to those that bind closely, as in jq's grammar. */
class Parser {
  readonly #tokens: readonly string[]
  #at = 0

  constructor(tokens: readonly string[]) {
    this.#tokens = tokens
  }

  program(): Step {
    const step = this.#pipe()
    if (this.#at < this.#tokens.length) throw unsure
    return step
  }

  #pipe(): Step {
    const first = this.#comma()
    return this.#skip('|') ? piped(first, this.#pipe()) : first
  }

  #comma(): Step {
    let step = this.#alternative()
    while (this.#skip(',')) {
      const [before, next] = [step, this.#alternative()]
      step = (input, emit) => {
        before(input, emit)
        next(input, emit)
      }
    }
    return step
  }

  #alternative(): Step {
    const first = this.#or()
    if (!this.#skip('//')) return first
    const second = this.#alternative()
    return (input, emit) => {
      const found: Json[] = []
      first(input, value => isTrue(value) && found.push(value))
      if (found.length > 0) found.forEach(emit)
      else second(input, emit)
    }
  }

  #or(): Step {
    let step = this.#and()
    while (this.#skip('or')) step = choice(step, this.#and(), true)
    return step
  }

  #and(): Step {
    let step = this.#comparison()
    while (this.#skip('and')) step = choice(step, this.#comparison(), false)
    return step
  }

  #comparison(): Step {
    const first = this.#sum()
    const meets = comparisons[this.#peek()]
    if (!meets) return first
    this.#at++
    return combined(first, this.#sum(), meets)
  }

  #sum(): Step {
    let step = this.#term()
    for (;;)
      if (this.#skip('+')) step = combined(step, this.#term(), sum)
      else if (this.#skip('-')) step = combined(step, this.#term(), difference)
      else return step
  }

  #term(): Step {
    let step = this.#start()
    for (;;) {
      if (this.#peek() === '[') step = piped(step, this.#bracket())
      else if (this.#peek() === '.') {
        this.#at++
        if (this.#peek() === '[') continue
        step = piped(step, this.#field(this.#key()))
      } else return step
    }
  }

  #start(): Step {
    const token = this.#next()
    if (token === '.') {
      if (words.test(this.#peek()) || this.#peek().startsWith('"')) return this.#field(this.#key())
      this.#skip(' ')
      return (input, emit) => emit(input)
    }
    if (token.startsWith('"')) return constant(textOf(token))
    if (/^\d/.test(token)) return constant(numberOf(token))
    if (token === '(') return this.#until(')', this.#pipe())
    if (token === '{') return this.#object()
    if (token === '[') return this.#array()
    if (token === 'if') return this.#if()
    return this.#call(token)
  }

  /** `[]`, `[0]`, `[-1]` and `["name"]`. */
  #bracket(): Step {
    this.#expect('[')
    if (this.#skip(']')) {
      const quiet = this.#skip('?')
      return (input, emit) => {
        if (!quiet || Array.isArray(input)) itemsOf(input).forEach(emit)
        else if (isObject(input)) throw unsure
      }
    }
    if (this.#peek().startsWith('"')) return this.#field(this.#until(']', textOf(this.#next())))
    const sign = this.#skip('-') ? -1 : 1
    const index = this.#until(']', sign * numberOf(this.#next()))
    const quiet = this.#skip('?')
    return (input, emit) => {
      if (!quiet || input === null || Array.isArray(input)) emit(itemOf(input, index))
    }
  }

  #key(): string {
    const token = this.#next()
    if (token.startsWith('"')) return textOf(token)
    if (!words.test(token)) throw unsure
    return token
  }

  #field(key: string): Step {
    const quiet = this.#skip('?')
    return (input, emit) => {
      if (!quiet || input === null || isObject(input)) emit(fieldOf(input, key))
    }
  }

  #object(): Step {
    const entries: (readonly [string, Step])[] = []
    while (entries.length === 0 || this.#skip(',')) {
      if (entries.length === 0 && this.#peek() === '}') break
      const token = this.#peek()
      const key = this.#key()
      if (keywords.has(token) || isNumeral(key) || key === '__proto__') throw unsure
      entries.push([key, this.#skip(':') ? this.#member() : (input, emit) => emit(fieldOf(input, key))])
    }
    this.#expect('}')
    return (input, emit) => {
      const object: Record<string, Json> = {}
      for (const [key, step] of entries) {
        const value = oneOf(step, input)
        if (value === undefined) return
        object[key] = value
      }
      emit(object)
    }
  }

  #member(): Step {
    const step = this.#term()
    return this.#skip('|') ? piped(step, this.#member()) : step
  }

  #array(): Step {
    if (this.#skip(']')) return (_, emit) => emit([])
    const step = this.#until(']', this.#pipe())
    return (input, emit) => emit(gathered(step, input))
  }

  #if(): Step {
    const condition = this.#pipe()
    this.#expect('then')
    const then = this.#pipe()
    const otherwise = this.#skip('elif') ? this.#if() : this.#otherwise()
    return (input, emit) => {
      const met = oneOf(condition, input)
      if (met !== undefined) (isTrue(met) ? then : otherwise)(input, emit)
    }
  }

  #otherwise(): Step {
    const step: Step = this.#skip('else') ? this.#pipe() : (input, emit) => emit(input)
    return this.#until('end', step)
  }

  #call(name: string): Step {
    if (!words.test(name)) throw unsure
    if (!this.#skip('(')) return Object.hasOwn(plainFunctions, name) ? plainFunctions[name]! : leave()
    const argument = this.#until(')', this.#pipe())
    return Object.hasOwn(functions, name) ? functions[name]!(argument) : leave()
  }

  #peek(): string {
    return this.#tokens[this.#at] ?? ''
  }

  #next(): string {
    return this.#tokens[this.#at++] ?? leave()
  }

  #skip(token: string): boolean {
    if (this.#peek() !== token) return false
    this.#at++
    return true
  }

  #expect(token: string): void {
    if (!this.#skip(token)) throw unsure
  }

  /** What was read, if this token follows it. */
  #until<T>(token: string, read: T): T {
    this.#expect(token)
    return read
  }
}

const comparisons: Readonly<Record<string, (a: Json, b: Json) => boolean>> = {
  '==': isSame,
  '!=': (a, b) => !isSame(a, b),
  '<': (a, b) => compare(a, b) < 0,
  '<=': (a, b) => compare(a, b) <= 0,
  '>': (a, b) => compare(a, b) > 0,
  '>=': (a, b) => compare(a, b) >= 0,
}

/** Functions without arguments. */
const plainFunctions: Readonly<Record<string, Step>> = {
  empty: () => {},
  not: (input, emit) => emit(!isTrue(input)),
  null: (_, emit) => emit(null),
  true: (_, emit) => emit(true),
  false: (_, emit) => emit(false),
  length: (input, emit) => emit(lengthOf(input)),
  type: (input, emit) => emit(typeOf(input)),
  first: (input, emit) => emit(itemOf(input, 0)),
  last: (input, emit) => emit(itemOf(input, -1)),
  any: (input, emit) => emit(itemsOf(input).some(isTrue)),
  all: (input, emit) => emit(itemsOf(input).every(isTrue)),
  values: (input, emit) => input !== null && emit(input),
  tostring: (input, emit) => emit(shown(input)),
  tojson: (input, emit) => emit(jsonOf(input)),
}

/** Functions of one argument. */
const functions: Readonly<Record<string, (argument: Step) => Step>> = {
  select: meets => (input, emit) => meets(input, value => isTrue(value) && emit(input)),
  map: step => (input, emit) => emit(itemsOf(input).flatMap(item => gathered(step, item))),
  any: step => (input, emit) => emit(itemsOf(input).some(item => gathered(step, item).some(isTrue))),
  all: step => (input, emit) => emit(itemsOf(input).every(item => gathered(step, item).every(isTrue))),
  startswith: start => combined(self, start, (text, part) => textIn(text).startsWith(textIn(part))),
  endswith: end => combined(self, end, (text, part) => textIn(text).endsWith(textIn(part))),
  contains: part => combined(self, part, (text, part) => textIn(text).includes(textIn(part))),
  // A pattern without marks is a plain text.
  test: pattern => combined(self, pattern, (text, part) => textIn(text).includes(plainPattern(textIn(part)))),
  has: key => combined(self, key, (input, name) => (isObject(input) ? Object.hasOwn(input, textIn(name)) : leave())),
  join: separator => combined(self, separator, joined),
}

function self(input: Json, emit: (value: Json) => void): void {
  emit(input)
}

function plainPattern(pattern: string): string {
  return /^[\w ]+$/.test(pattern) ? pattern : leave()
}

function constant(value: Json): Step {
  return (_, emit) => emit(value)
}

function piped(first: Step, second: Step): Step {
  return (input, emit) => first(input, value => second(value, emit))
}

/** Of two steps with one result each; nothing if one of them has none. */
function combined(first: Step, second: Step, combine: (a: Json, b: Json) => Json): Step {
  return (input, emit) => {
    const b = oneOf(second, input)
    const a = b === undefined ? undefined : oneOf(first, input)
    if (a !== undefined) emit(combine(a, b!))
  }
}

/** `or` and `and`: the second step is run only if the first does not decide. */
function choice(first: Step, second: Step, decides: boolean): Step {
  return (input, emit) => {
    const a = oneOf(first, input)
    if (a === undefined) return
    if (isTrue(a) === decides) return emit(decides)
    const b = oneOf(second, input)
    if (b !== undefined) emit(isTrue(b))
  }
}

function gathered(step: Step, input: Json): Json[] {
  const found: Json[] = []
  step(input, value => void found.push(value))
  return found
}

function textOf(token: string): string {
  try {
    return JSON.parse(token) as string
  } catch {
    throw unsure
  }
}

function numberOf(token: string): number {
  return /^\d{1,15}$/.test(token) ? Number(token) : leave()
}

function leave(): never {
  throw unsure
}
