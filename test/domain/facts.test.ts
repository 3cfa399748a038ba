// Every fact has exactly one owner. The compiler proves it; this file shows that the proof fails when it should.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { resources } from '../../daemon/domain/index.ts'
import { type AnyResource, type Ownership, resource } from '../../daemon/domain/resource.ts'

type Drafts = AnyResource<'draft.created' | 'draft.edited'>
type Snippets = AnyResource<'snippet.created'>
type Signals = AnyResource<never>
type Types = 'draft.created' | 'draft.edited' | 'snippet.created'

true satisfies Ownership<Types, readonly [Drafts, Signals, Snippets]>

// @ts-expect-error: no resource owns snippet.created.
true satisfies Ownership<Types, readonly [Drafts, Signals]>
const missing: Ownership<Types, readonly [Drafts, Signals]> = {
  withoutOwner: 'snippet.created',
  withTwoOwners: undefined as never,
}

// @ts-expect-error: two resources own draft.edited.
true satisfies Ownership<Types, readonly [Drafts, Snippets, AnyResource<'draft.edited'>]>
const twice: Ownership<Types, readonly [Drafts, Snippets, AnyResource<'draft.edited'>]> = {
  withoutOwner: undefined as never,
  withTwoOwners: 'draft.edited',
}

describe('facts and their owners', () => {
  test('the compiler names a fact without an owner, and one with two', () => {
    assert.equal(missing.withoutOwner, 'snippet.created')
    assert.equal(twice.withTwoOwners, 'draft.edited')
  })

  test('a resource keeps the types of its facts', () => {
    const drafts = resource({})<{ readonly type: 'draft.deleted'; readonly id: number; readonly userId: number }>({
      commands: {},
      apply: { 'draft.deleted': () => {} },
      announce: { 'draft.deleted': () => [] },
    })
    true satisfies Ownership<'draft.deleted', readonly [typeof drafts]>
    // @ts-expect-error: it owns draft.deleted only.
    true satisfies Ownership<'draft.deleted' | 'draft.edited', readonly [typeof drafts]>
    assert.deepEqual(Object.keys(drafts.apply), ['draft.deleted'])
  })

  test('no two resources apply or announce the same fact when the program runs', () => {
    for (const part of ['apply', 'announce'] as const) {
      const types = resources.flatMap(one => Object.keys(one[part]))
      assert.ok(types.length > 80, `${types.length} facts in ${part}`)
      assert.deepEqual(new Set(types).size, types.length)
    }
  })
})
