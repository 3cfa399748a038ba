// Test files carry the names of what they test: `queues.test.ts`, or with an aspect of it, `queues-order.test.ts`.

import assert from 'node:assert/strict'
import { posix } from 'node:path'
import { describe, test } from 'node:test'
import { filesUnder } from '../support/sources.ts'

/** Sources that the tests of a folder are named after; undefined for tests that are about no single room, such as laws. */
function sourcesOf(folder: string): string[] | undefined {
  const room = folder.split('/')[1]!
  if (room === 'cli') return ['cli', 'daemon/local']
  if (room === 'daemon') return ['daemon']
  // The pages of a resource have the names of its files in the domain.
  if (room === 'domain') return ['daemon/domain', 'daemon/api']
  return filesUnder(`daemon/${room}`).length > 0 ? [`daemon/${room}`] : undefined
}

/** Names of the files and folders below these. */
function namesIn(places: readonly string[]): Set<string> {
  const files = places.flatMap(filesUnder)
  return new Set(
    files
      .flatMap(file =>
        file
          .replace(/\.\w+$/, '')
          .split('/')
          .slice(1),
      )
      .concat(places),
  )
}

function isNamedAfter(test: string, names: ReadonlySet<string>): boolean {
  const words = test.split('-')
  return words.some((_, index) => names.has(words.slice(0, index + 1).join('-')))
}

describe('test files', () => {
  test('are named after a source, at least 8 of 10 in every folder', () => {
    const all = filesUnder('test').filter(file => file.endsWith('.test.ts'))
    const low = [...new Set(all.map(file => posix.dirname(file)))].flatMap(folder => {
      const places = sourcesOf(folder)
      if (!places) return []
      const files = all.filter(file => posix.dirname(file) === folder)
      const names = namesIn(places)
      const others = files.filter(file => !isNamedAfter(posix.basename(file, '.test.ts'), names))
      return others.length * 5 > files.length ? [`${folder}: ${others.join(', ')}`] : []
    })
    assert.deepEqual(low, [])
  })

  test('can have an aspect after the name', () => {
    const names = new Set(['queues', 'timer-wheel'])
    for (const name of ['queues', 'queues-order', 'timer-wheel-late']) assert.ok(isNamedAfter(name, names), name)
    for (const name of ['order', 'timer', 'queue-order']) assert.ok(!isNamedAfter(name, names), name)
  })
})
