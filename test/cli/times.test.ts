// Times and durations as people write them, and as they are shown.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parseDuration, parseTime, readPast, showDistance } from '../../cli/base/times.ts'

describe('a time', () => {
  const now = new Date(2026, 0, 5, 12, 30, 10) // a Monday
  const local = (year: number, month: number, day: number, hours = 0, minutes = 0) =>
    new Date(year, month, day, hours, minutes).getTime() / 1000

  test('is a number, a date, a clock time, a weekday or a distance from now', () => {
    for (const [text, seconds] of [
      ['1700000000', 1_700_000_000],
      ['now', Math.floor(now.getTime() / 1000)],
      ['+2h', now.getTime() / 1000 + 7200],
      ['+1h30m', now.getTime() / 1000 + 5400],
      ['-10m', now.getTime() / 1000 - 600],
      ['90m', now.getTime() / 1000 + 5400],
      ['1h30m', now.getTime() / 1000 + 5400],
      ['in 5 minutes', now.getTime() / 1000 + 300],
      ['in 1 hour and 5 min', now.getTime() / 1000 + 3900],
      ['2 days', now.getTime() / 1000 + 172_800],
      ['2026-01-05T12:30:00Z', Date.UTC(2026, 0, 5, 12, 30) / 1000],
      ['2026-01-05T12:30+0200', Date.UTC(2026, 0, 5, 10, 30) / 1000],
      ['2026-01-05 12:30', local(2026, 0, 5, 12, 30)],
      ['2026-02-01', local(2026, 1, 1)],
      ['tomorrow 9:00', local(2026, 0, 6, 9)],
      ['Tomorrow at 9am', local(2026, 0, 6, 9)],
      ['today 23:15', local(2026, 0, 5, 23, 15)],
      ['9:00', local(2026, 0, 6, 9)],
      ['14:00', local(2026, 0, 5, 14)],
      ['12pm', local(2026, 0, 6, 12)],
      ['friday 17:30', local(2026, 0, 9, 17, 30)],
      ['mon', local(2026, 0, 12)],
    ] as const)
      assert.equal(parseTime(text, now), seconds, text)
  })

  test('lies in the past where only that makes sense, unless it says otherwise', async () => {
    for (const [text, seconds] of [
      ['10m', now.getTime() / 1000 - 600],
      ['10min', now.getTime() / 1000 - 600],
      ['2 hours', now.getTime() / 1000 - 7200],
      ['1 week', now.getTime() / 1000 - 604_800],
      ['in 5 minutes', now.getTime() / 1000 + 300],
      ['+5m', now.getTime() / 1000 + 300],
      ['9:00', local(2026, 0, 5, 9)],
      ['14:00', local(2026, 0, 4, 14)],
      ['friday', local(2026, 0, 2)],
      ['mon', local(2025, 11, 29)],
      ['yesterday', local(2026, 0, 4)],
      ['1700000000', 1_700_000_000],
    ] as const)
      assert.equal(await readPast(text, async () => now), seconds, text)
    assert.equal(await readPast('1 day ago', async () => now), undefined)
  })

  test('that has none of these forms is refused', () => {
    for (const text of [
      '',
      'x',
      '25:00',
      '13pm',
      '9',
      '+',
      '+2x',
      '2026-13-01',
      '2026-02-30',
      'tomorrow x',
      '1e9',
      'in',
      '5 moons',
    ])
      assert.equal(parseTime(text, now), text === '9' ? 9 : undefined, text)
  })

  test('a duration has units; a bare number is seconds', () => {
    assert.deepEqual(
      ['15s', '2', '1h30m', '500ms', '0.5s', '1w'].map(parseDuration),
      [15_000, 2000, 5_400_000, 500, 500, 604_800_000],
    )
    assert.deepEqual(['', 's', '15 s', '-1s', '1y'].map(parseDuration), Array(5).fill(undefined))
  })
})

test('a distance in time is shown in words', () => {
  const cases = [
    [0, 'just now'],
    [-90, '2 min ago'],
    [-7200, '2 h ago'],
    [-3 * 86_400, '3 d ago'],
    [30, 'in a moment'],
    [7200, 'in 2 h'],
  ] as const
  for (const [distance, said] of cases) assert.equal(showDistance(1_000_000 + distance, 1_000_000), said)
})
