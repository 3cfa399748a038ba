// A law on what belongs to a world: it starts nothing outside of the world's boundary. A timer or a promise without a caller, that
// nothing else catches, would end the process with all other worlds when it fails.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sources } from '../support/sources.ts'

/** Files that belong to a world. The port, the journal's file and the cluster belong to the process. */
const ofWorlds =
  /^daemon\/(control|domain|events|io|seed)\/|^daemon\/http\/(edge|idempotency|images|long-poll|site|uploads|uploads-in-progress)\.ts$|^daemon\/(engine|replay)\.ts$|^daemon\/world\/(?!spaces)/

/** What may stay outside, and why. */
const outside: Readonly<Record<string, string>> = {
  'daemon/io/files.ts: setImmediate(() => this.release(name))': 'lowers a count, which cannot fail',
  'daemon/world/scheduler.ts: void this.#run(next.job)': 'never rejects: it says so, and catches everything',
}

const timer = /\b(?:setTimeout|setInterval|setImmediate|queueMicrotask|nextTick)\(/

/** Lines that set a timer by its global name; what node:timers/promises gives is a promise, which the second law looks at. */
function timersIn(path: string, code: string): string[] {
  return linesOf(code)
    .filter(line => timer.test(line))
    .map(line => `${path}: ${line}`)
}

/** Lines that start something and drop its promise: `void start()`, `start()` with an async function of the same file. Declarations do not. */
function floatingIn(path: string, code: string): string[] {
  const asynchronous = [...code.matchAll(/\basync (?:function )?([#\w]+)[(<]/g)].map(([, name]) => name)
  const dropped = [
    /^void [\w#.(]/,
    /^[\w#.!?()]+\.(?:then|finally)\((?!.*, )/,
    ...asynchronous.map(name => new RegExp(`^(?:this\\.)?${name}\\(`)),
  ]
  return linesOf(code)
    .map(line => line.replace(/^(?:\} )?(?:else )?(?:if \(.*\) |else )?(?=void |this\.)/, ''))
    .filter(line => dropped.some(form => form.test(line)) && !/\{$|\.catch\(|\): [\w<> |]+$/.test(line))
    .map(line => `${path}: ${line}`)
}

function linesOf(code: string): string[] {
  return code.split('\n').map(line => line.trim())
}

const files = sources('daemon').filter(({ path }) => ofWorlds.test(path))

describe('what belongs to a world', () => {
  test('sets no timer outside of its boundary', () => {
    assert.ok(files.length > 200, `${files.length} files`)
    const found = files.flatMap(({ path, code }) => timersIn(path, code))
    assert.deepEqual(
      found.filter(each => !Object.hasOwn(outside, each)),
      [],
    )
  })

  test('drops no promise outside of its boundary', () => {
    const found = files.flatMap(({ path, code }) => floatingIn(path, code))
    assert.deepEqual(
      found.filter(each => !Object.hasOwn(outside, each)),
      [],
    )
  })

  test('has no exception that is not needed any more', () => {
    for (const [exception, reason] of Object.entries(outside)) {
      const [path, statement] = exception.split(': ', 2) as [string, string]
      assert.ok(files.find(file => file.path === path)?.text.includes(statement), `${exception} (${reason}) is gone`)
    }
  })

  test('the law sees what it looks for', () => {
    for (const code of ['setTimeout(run, 5)', 'process.nextTick(run)', 'queueMicrotask(() => run())'])
      assert.deepEqual(timersIn('x.ts', code), [`x.ts: ${code}`])
    assert.deepEqual(timersIn('x.ts', 'await sleep(5); boundary.after(5, run)'), [])
    const own = 'async function run() {\n}\nasync #go(): Promise<void> {\n'
    for (const code of ['void f()', 'run()', 'this.#go()', 'p.then(f)', 'this.#p.finally(f)'])
      for (const before of ['', 'else ', 'if (a && b()) '])
        if (before === '' || /^(void|this)/.test(code))
          assert.deepEqual(floatingIn('x.ts', `${own}  ${before}${code}`), [`x.ts: ${code}`])
    for (const code of ['await run()', 'return run()', 'p.catch(f)', 'p.then(f, g)', 'boundary.run(() => this.#go())'])
      assert.deepEqual(floatingIn('x.ts', `${own}  ${code}`), [])
  })
})
