// Rows that a client sends are held to what calls can make. Other bounds of such rows are in index.test.ts.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { limits } from '../../../daemon/domain/limits.ts'
import { collectRows } from '../../../daemon/domain/model/saved-rows.ts'
import { loadChecked } from '../../../daemon/domain/row-checks/index.ts'
import { Replay } from '../../../daemon/replay.ts'
import { story } from '../../support/every-fact.ts'
import { World } from '../../support/in-process.ts'

type Rows = Record<string, any>

const rest = async () => {}

/** A world with rows of most kinds. */
function founded(): Rows {
  const replay = new Replay()
  for (const fact of story) {
    // What comes after it takes things away.
    if (fact.type === 'bot-storage.removed') break
    replay.take([fact])
  }
  return structuredClone(collectRows(replay.state.save(true)))
}

function many(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index + 1)
}

/** Refused when a client sends it; a file of an operator may have it. */
async function isRefused(change: (rows: Rows) => void, why: RegExp): Promise<void> {
  const rows = founded()
  await loadChecked(rows, rest, { isSent: true })
  change(rows)
  await assert.rejects(loadChecked(rows, rest, { isSent: true }), why)
  await loadChecked(rows, rest)
}

describe('rows that a client sends', () => {
  test('have names as long as calls can make them, since every message repeats that of its sender', async () => {
    const long = 'x'.repeat(10_000)
    await isRefused(
      ({ users }) => Object.assign(users[2], { fullName: long }),
      /^Error: users: fullName: must have at most 100 characters$/,
    )
    await isRefused(
      ({ users }) => Object.assign(users[2], { email: `${long}@example.com` }),
      /^Error: users: email: must have at most 254 characters$/,
    )
    await isRefused(
      ({ channels }) => Object.assign(channels[1], { name: long }),
      /^Error: channels: name: must have at most 60 characters$/,
    )
    await isRefused(
      ({ organization }) => Object.assign(organization[0], { emailDomain: long }),
      /^Error: organization: emailDomain: must have at most 254 characters$/,
    )
  })

  test('have names with characters of two units', async () => {
    const rows = founded()
    Object.assign(rows.users[2], { fullName: '😀'.repeat(limits.fullName) })
    await loadChecked(rows, rest, { isSent: true })
  })

  test('have settings as long as calls can make them, since each new account is greeted with one', async () => {
    await isRefused(
      ({ organization }) =>
        Object.assign(organization[0].settings, { welcome_message_custom_text: '$$x^2$$ '.repeat(3000) }),
      /^Error: organization: settings.welcome_message_custom_text: must have at most 8000 characters$/,
    )
    await isRefused(
      ({ users }) => Object.assign(users[2], { settings: { timezone: 'x'.repeat(10_001) } }),
      /^Error: users: settings\["timezone"\]: must have at most 10000 characters$/,
    )
  })

  test('have lists as long as calls can make them', async () => {
    await isRefused(
      ({ alertWords }) => Object.assign(alertWords[1], { words: many(201).map(String) }),
      /^Error: alertWords: words: must have at most 200 items$/,
    )
    await isRefused(({ messages }) => {
      const [reaction] = messages[1].details.reactions
      messages[1].details.reactions = many(10_001).map(() => reaction)
    }, /^Error: messages: details.reactions: must have at most 10000 items$/)
  })

  test('are as many as calls can make', async () => {
    await isRefused(({ playgrounds }) => {
      const [head, row] = playgrounds
      for (const id of many(100)) playgrounds.push({ ...row, id: 1 + id })
      head.last_id = 101
    }, /^Error: playgrounds: there are 101; give at most 100$/)
    await isRefused(({ exports }) => {
      for (const id of many(6)) exports.push({ id: 1 + id, userId: 2, kind: 1, requested: 1, status: 'pending' })
      exports[0].last_id = 7
    }, /^Error: exports: 6 are pending; give at most 5$/)
  })

  test('of a new organization are taken', async () => {
    await loadChecked(collectRows(new World().state.save()), rest, { isSent: true })
  })
})
