// Ranges of messages around an anchor, as clients of the public server know them.

import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { sharedDaemon } from '../support/daemon.ts'
import { ask, type Case, cases, ok } from './support/cases.ts'

describe('GET /messages', () => {
  const daemon = sharedDaemon({ flags: ['--memory'] })
  const amy = () => daemon().owner
  let ids: number[]
  before(async () => {
    ids = []
    for (const content of ['one', 'two', 'three', 'four', 'five'])
      ids.push((await ok(amy(), 'POST /messages', { type: 'direct', to: [amy().id], content })).id)
  })
  const beyond = 10_000_000_000_000_000
  const all = 'num_before, num_after, anchor, message_ids, include_anchor, use_first_unread_anchor'
  const own = [['is', 'dm']]
  const range = (title: string, fields: () => object, answer: () => object): Case => [
    title,
    amy,
    'GET /messages',
    () => ({ narrow: own, ...fields() }),
    answer as never,
  ]
  const listed = (...places: number[]) => places.map(place => ({ id: ids[place] }))
  cases([
    range(
      'gives the anchor and its neighbours',
      () => ({ anchor: String(ids[2]), num_before: 1, num_after: 1 }),
      () => ({
        messages: listed(1, 2, 3),
        anchor: ids[2],
        found_anchor: true,
        found_oldest: false,
        found_newest: false,
        history_limited: false,
      }),
    ),
    range(
      'reaches both ends',
      () => ({ anchor: String(ids[2]), num_before: 9, num_after: 9 }),
      () => ({ messages: listed(0, 1, 2, 3, 4), found_oldest: true, found_newest: true }),
    ),
    range(
      'leaves the anchor out at an end',
      () => ({ anchor: String(ids[2]), num_before: 1, num_after: 0, include_anchor: false }),
      () => ({ messages: listed(1), found_anchor: false }),
    ),
    range(
      'leaves the anchor out at the other end',
      () => ({ anchor: String(ids[2]), num_before: 0, num_after: 1, include_anchor: false }),
      () => ({ messages: listed(3), found_anchor: false }),
    ),
    range(
      'refuses to leave the anchor out in the middle',
      () => ({ anchor: String(ids[2]), num_before: 1, num_after: 1, include_anchor: false }),
      () => ({ status: 400, code: 'BAD_REQUEST' }),
    ),
    range(
      'gives the anchor alone',
      () => ({ anchor: String(ids[2]), num_before: 0, num_after: 0 }),
      () => ({ messages: listed(2), found_anchor: true, found_oldest: false, found_newest: false }),
    ),
    range(
      'starts at the newest',
      () => ({ anchor: 'newest', num_before: 2, num_after: 2 }),
      () => ({ messages: listed(3, 4), anchor: beyond, found_newest: true, found_oldest: false, found_anchor: false }),
    ),
    range(
      'starts at the oldest',
      () => ({ anchor: 'oldest', num_before: 2, num_after: 2 }),
      () => ({ messages: listed(0, 1), anchor: 0, found_oldest: true, found_newest: false }),
    ),
    range(
      'takes a negative anchor as the oldest',
      () => ({ anchor: '-5', num_before: 0, num_after: 1 }),
      () => ({ messages: listed(0), anchor: 0, found_oldest: true }),
    ),
    range(
      'takes an anchor that is too large as the newest',
      () => ({ anchor: '10000000000000001', num_before: 1, num_after: 0 }),
      () => ({ messages: listed(4), anchor: beyond, found_newest: true }),
    ),
    range(
      'needs no numbers',
      () => ({ anchor: String(ids[2]) }),
      () => ({ messages: listed(2) }),
    ),
    range(
      'takes the older form of first_unread',
      () => ({ use_first_unread_anchor: true, num_before: 1, num_after: 0 }),
      () => ({ anchor: (value: unknown) => typeof value === 'number' }),
    ),
    range(
      'refuses to go without an anchor',
      () => ({ num_before: 1, num_after: 0 }),
      () => ({ status: 400 }),
    ),
    range(
      'refuses an anchor that is a word',
      () => ({ anchor: 'middle', num_before: 1, num_after: 0 }),
      () => ({ status: 400, code: 'BAD_REQUEST' }),
    ),
    range(
      'refuses a negative num_before',
      () => ({ anchor: 'newest', num_before: -1, num_after: 0 }),
      () => ({ status: 400, code: 'BAD_REQUEST' }),
    ),
    range(
      'refuses a num_after that is a word',
      () => ({ anchor: 'newest', num_before: 1, num_after: 'many' }),
      () => ({ status: 400, code: 'BAD_REQUEST' }),
    ),
    range(
      'refuses more than 5000 messages',
      () => ({ anchor: 'newest', num_before: 3000, num_after: 2001 }),
      () => ({ status: 400, code: 'BAD_REQUEST' }),
    ),
    range(
      'takes 5000 messages',
      () => ({ anchor: 'newest', num_before: 3000, num_after: 2000 }),
      () => ({ found_oldest: true }),
    ),
    range(
      'gives messages by their IDs',
      () => ({ narrow: undefined, message_ids: [ids[3], ids[1]] }),
      () => ({
        messages: listed(1, 3),
        found_anchor: false,
        found_oldest: false,
        found_newest: false,
        anchor: (value: unknown) => value === undefined,
      }),
    ),
    range(
      'leaves out IDs that do not exist',
      () => ({ narrow: undefined, message_ids: [ids[3], 99_999] }),
      () => ({ messages: listed(3) }),
    ),
    range(
      'takes zeros beside message_ids',
      () => ({ message_ids: [ids[3]], num_before: 0, num_after: 0 }),
      () => ({ messages: listed(3) }),
    ),
    range(
      'refuses an anchor beside message_ids',
      () => ({ message_ids: [1, 2], anchor: '1' }),
      () => ({ status: 400, code: 'BAD_REQUEST', parameters: all }),
    ),
    range(
      'refuses num_before beside message_ids',
      () => ({ message_ids: [1, 2], num_before: 1 }),
      () => ({ status: 400, parameters: all }),
    ),
    range(
      'refuses num_after beside message_ids',
      () => ({ message_ids: [1, 2], num_after: 1 }),
      () => ({ status: 400, parameters: all }),
    ),
    range(
      'refuses use_first_unread_anchor beside message_ids',
      () => ({ message_ids: [1, 2], use_first_unread_anchor: true }),
      () => ({ status: 400, parameters: all }),
    ),
    range(
      'refuses negative message_ids',
      () => ({ message_ids: [-1] }),
      () => ({ status: 400, code: 'BAD_REQUEST' }),
    ),
  ])

  test('POST /messages/flags/narrow refuses to leave the anchor out in the middle', async () => {
    const params = {
      anchor: String(ids[2]),
      num_before: 1,
      num_after: 1,
      include_anchor: false,
      narrow: own,
      op: 'add',
      flag: 'starred',
    }
    assert.equal((await ask(amy(), 'POST /messages/flags/narrow', params)).status, 400)
  })
})
