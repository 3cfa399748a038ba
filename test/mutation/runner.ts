// Replaces `node:test` while mutants are tried: it runs chosen tests of one file, stops at the first that fails, and
// can be loaded many times in one process.

type Hook = () => unknown
type Body = (t: Context) => unknown

interface Options {
  readonly skip?: boolean | string
}

interface Suite {
  readonly skip: boolean
  readonly before: Hook[]
  readonly after: Hook[]
  readonly beforeEach: Hook[]
  readonly afterEach: Hook[]
  readonly items: (Suite | Test)[]
}

interface Test {
  /** By order in the file. */
  readonly number: number
  readonly name: string
  readonly skip: boolean
  readonly body: Body
}

/** What is asked of a run. */
export interface Wanted {
  /** Whether to run this test. */
  isWanted(number: number): boolean
  /** Called before each test with its number, and after it with undefined. */
  onTest(number: number | undefined): void
  /** In milliseconds, for one test. */
  limitOf(number: number): number
}

export class TooLate extends Error {}

const root = newSuite(false)
let current = root
let count = 0

export function describe(...args: readonly unknown[]): void {
  const { skip, body } = parts<Hook>(args)
  const suite = newSuite(skip)
  const outer = current
  outer.items.push(suite)
  current = suite
  try {
    if (!skip) body()
  } finally {
    current = outer
  }
}

export function test(...args: readonly unknown[]): void {
  const { name, skip, body } = parts<Body>(args)
  current.items.push({ number: count++, name, skip, body })
}

export const suite = describe
export const it = test
export const before = (hook: Hook) => void current.before.push(hook)
export const after = (hook: Hook) => void current.after.push(hook)
export const beforeEach = (hook: Hook) => void current.beforeEach.push(hook)
export const afterEach = (hook: Hook) => void current.afterEach.push(hook)

/** The part of node's TestContext that our tests use. */
class Context {
  readonly name: string
  readonly afters: Hook[] = []

  constructor(name: string) {
    this.name = name
  }

  after(hook: Hook): void {
    this.afters.push(hook)
  }

  async test(name: string, body: Body): Promise<void> {
    await runBody(new Context(name), body)
  }

  diagnostic(): void {}
  skip(): void {}
}

/** Runs the tests of the file that are wanted; throws what the first failure threw. */
export async function run(wanted: Wanted): Promise<void> {
  await runSuite(root, wanted, [])
}

async function runSuite(suite: Suite, wanted: Wanted, around: readonly Suite[]): Promise<void> {
  if (!hasWanted(suite, wanted)) return
  const path = [...around, suite]
  try {
    for (const hook of suite.before) await hook()
    for (const item of suite.items)
      if ('items' in item) await runSuite(item, wanted, path)
      else if (!item.skip && wanted.isWanted(item.number)) await runTest(item, wanted, path)
  } finally {
    for (const hook of suite.after) await hook()
  }
}

async function runTest({ number, name, body }: Test, wanted: Wanted, path: readonly Suite[]): Promise<void> {
  wanted.onTest(number)
  try {
    for (const hook of path.flatMap(suite => suite.beforeEach)) await hook()
    await within(wanted.limitOf(number), runBody(new Context(name), body))
  } finally {
    for (const hook of path.flatMap(suite => suite.afterEach)) await hook()
    wanted.onTest(undefined)
  }
}

async function runBody(context: Context, body: Body): Promise<void> {
  try {
    await body(context)
  } finally {
    for (const hook of context.afters) await hook()
  }
}

/** In milliseconds. */
const tick = 100

/** Counted in ticks that this process lived to see: one that gets no processor is not late. */
async function within(milliseconds: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout
  const late = new Promise<never>((_, reject) => {
    let left = Math.ceil(milliseconds / tick)
    timer = setInterval(() => {
      if (--left <= 0) reject(new TooLate(`took more than ${milliseconds} ms`))
    }, tick)
  })
  await Promise.race([work, late]).finally(() => clearInterval(timer))
}

function hasWanted(suite: Suite, wanted: Wanted): boolean {
  return (
    !suite.skip &&
    suite.items.some(item => ('items' in item ? hasWanted(item, wanted) : !item.skip && wanted.isWanted(item.number)))
  )
}

function newSuite(skip: boolean): Suite {
  return { skip, before: [], after: [], beforeEach: [], afterEach: [], items: [] }
}

function parts<Function>(args: readonly unknown[]): { name: string; skip: boolean; body: Function } {
  const options = args.find(arg => typeof arg === 'object') as Options | undefined
  const body = args.find(arg => typeof arg === 'function') as Function
  return { name: String(args[0]), skip: Boolean(options?.skip) || body === undefined, body }
}
