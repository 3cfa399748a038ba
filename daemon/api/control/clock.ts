// The daemon's clock: show, freeze, move, resume.

import { controlEndpoint } from '../control-endpoint.ts'
import { defaulted, listOf, milliseconds, nullable, oneOf, optional, record, required, text } from '../define.ts'
import { Type } from '../shape-builders.ts'
import { clockColumns, clockReply, duration, moment } from '../shapes/control.ts'

const dueEntry = record({
  at: milliseconds,
  kind: oneOf('scheduled message', 'reminder', 'queue expiry', 'webhook attempt'),
  user: nullable(text),
  about: text,
})

export const clock = {
  show: controlEndpoint({
    id: 'show-clock',
    route: 'GET /clock',
    summary: 'Show the time of the daemon, and whether its clock is frozen',
    reply: clockReply,
    cli: {
      name: 'clock show',
      columns: clockColumns,
      examples: ['natter clock show', 'natter clock show --json'],
    },
  }),
  freeze: controlEndpoint({
    id: 'freeze-clock',
    route: 'POST /clock/freeze',
    summary: 'Freeze the clock, now or at a later time',
    params: { at: optional(moment, 'the time to move to first, as for clock set; now if omitted') },
    reply: clockReply,
    cli: {
      name: 'clock freeze',
      columns: clockColumns,
      args: ['at'],
      examples: ['natter clock freeze', 'natter clock freeze 2030-01-01T09:00:00Z --ready-file ready.json'],
    },
  }),
  set: controlEndpoint({
    id: 'set-clock',
    route: 'POST /clock/set',
    summary: 'Move the clock forward to a time; everything that falls due on the way happens first',
    params: { to: required(moment, 'the new time: ISO 8601 or UNIX seconds') },
    reply: clockReply,
    cli: {
      name: 'clock set',
      columns: clockColumns,
      examples: ['natter clock set 2030-01-01T09:00:00Z', 'natter clock set 1893456000 --json'],
      timeout: 120_000,
    },
  }),
  advance: controlEndpoint({
    id: 'advance-clock',
    route: 'POST /clock/advance',
    summary: 'Move the clock forward by a duration; everything that falls due on the way happens first',
    params: { by: required(duration, 'such as 10m or 1h30m; a number means seconds') },
    reply: clockReply,
    cli: {
      name: 'clock advance',
      columns: clockColumns,
      examples: ['natter clock advance 10m', 'natter clock advance 1h30m --json'],
      timeout: 120_000,
    },
  }),
  due: controlEndpoint({
    id: 'list-due',
    route: 'GET /clock/due',
    summary: 'List what falls due next by the clock, soonest first',
    params: {
      limit: defaulted(Type.Integer({ minimum: 1, maximum: 1000 }), 20, 'maximum number of entries'),
    },
    reply: { due: listOf(dueEntry), now: milliseconds },
    cli: {
      name: 'clock due',
      examples: ['natter clock due', 'natter clock due --limit 1 --json'],
      shows: 'due',
    },
  }),
  resume: controlEndpoint({
    id: 'resume-clock',
    route: 'POST /clock/resume',
    summary: 'Let the clock run again, from its current time',
    reply: clockReply,
    cli: {
      name: 'clock resume',
      columns: clockColumns,
      examples: ['natter clock resume', 'natter clock resume --json'],
    },
  }),
}
