// States of the daemon to go back to: the one it started with, and those saved by name.

import { controlEndpoint } from '../control-endpoint.ts'
import {
  anything,
  bool,
  defaulted,
  inPath,
  int,
  keyed,
  listOf,
  milliseconds,
  record,
  required,
  text,
} from '../define.ts'
import { Type } from '../shape-builders.ts'
import { clockColumns, clockReply } from '../shapes/control.ts'

const snapshot = record({ name: text, time: milliseconds })

const name = Type.String({ maxLength: 100 })

/** The command line reads it from a file. Larger ones are for `natterd --from`. */
const fileContent = Type.String({ maxLength: 20 * 1024 * 1024, ref: 'file' })

const thingId = Type.Union([int, text])
const thing = record({ id: thingId, name: text, fields: keyed(anything) })
const changedThing = record({
  id: thingId,
  name: text,
  changes: keyed(record({ from: anything, to: anything })),
})

export const snapshots = {
  reset: controlEndpoint({
    id: 'reset',
    route: 'POST /reset',
    summary: 'Put the daemon back to its start: seed, clock, no faults, empty logs, no event queues',
    reply: clockReply,
    cli: {
      name: 'reset',
      destroys: { question: 'Delete everything that this daemon keeps on disk?', when: 'kept' },
      examples: ['natter reset', 'natter reset --ready-file ready.json --json', 'natter reset --yes'],
      columns: clockColumns,
    },
  }),
  list: controlEndpoint({
    id: 'list-snapshots',
    route: 'GET /snapshots',
    summary: 'List saved snapshots; kept says whether the daemon has a store on disk',
    reply: { snapshots: listOf(snapshot), kept: bool },
    cli: {
      name: 'snapshot list',
      examples: ['natter snapshot list', 'natter snapshot list --json'],
      shows: 'snapshots',
    },
  }),
  save: controlEndpoint({
    id: 'save-snapshot',
    route: 'POST /snapshots',
    summary: 'Save the state of the daemon under a name, in its memory',
    params: { name: required(name, 'letters, digits, dots, dashes and underscores; an existing one is replaced') },
    reply: { snapshot },
    cli: {
      name: 'snapshot save',
      done: 'saved snapshot {name}',
      examples: ['natter snapshot save before', 'natter snapshot save before --json'],
      shows: 'snapshot',
    },
  }),
  export: controlEndpoint({
    id: 'export-snapshot',
    route: 'GET /snapshots/{name}/file',
    summary: 'Print a snapshot as a JSON file that is complete by itself, uploads included; API keys are not in it',
    params: { name: inPath(name, 'the snapshot, start or now') },
    cli: {
      name: 'snapshot print',
      examples: ['natter snapshot print now', 'natter snapshot print before > before.json'],
      timeout: 600_000,
      raw: true,
    },
  }),
  seed: controlEndpoint({
    id: 'dump-seed',
    route: 'GET /snapshots/{name}/seed',
    summary: 'Print a snapshot as a seed that founds the same organization',
    params: { name: inPath(name, 'the snapshot, start or now') },
    cli: {
      name: 'seed print',
      examples: ['natter seed print now', "natter seed print start | jq '.rows.channels'"],
      timeout: 600_000,
      raw: true,
    },
  }),
  import: controlEndpoint({
    id: 'import-snapshot',
    route: 'POST /snapshots/{name}/file',
    summary: 'Take a snapshot from a file, under a name; snapshot restore goes to it',
    params: {
      name: inPath(name, 'letters, digits, dots, dashes and underscores; an existing one is replaced'),
      document: required(fileContent, 'a file of snapshot export'),
    },
    reply: { snapshot },
    cli: {
      name: 'snapshot import',
      args: ['document', 'name'],
      examples: ['natter snapshot import before.json before', 'natter snapshot import before.json before --json'],
      shows: 'snapshot',
      timeout: 600_000,
    },
  }),
  diff: controlEndpoint({
    id: 'compare-snapshots',
    route: 'GET /snapshots/diff',
    summary: 'List what was added, changed and removed between two snapshots, by resource',
    params: {
      from: required(name, 'a snapshot, start for the state that reset goes back to, or now'),
      to: defaulted(name, 'now', 'a snapshot, start or now'),
      limit: defaulted(Type.Integer({ minimum: 0, maximum: 100_000 }), 1000, 'maximum number of things listed'),
    },
    reply: {
      from: text,
      to: text,
      total: int,
      resources: keyed(record({ added: listOf(thing), changed: listOf(changedThing), removed: listOf(thing) })),
    },
    cli: {
      name: 'snapshot diff',
      args: ['from', 'to'],
      examples: [
        'natter snapshot diff before',
        'natter snapshot diff before after --json',
        'natter snapshot diff start now',
      ],
      says: 'difference',
      timeout: 120_000,
    },
  }),
  restore: controlEndpoint({
    id: 'restore-snapshot',
    route: 'POST /snapshots/{name}/restore',
    summary: 'Go back to a saved snapshot; event queues are removed',
    params: { name: inPath(name, 'the snapshot') },
    reply: clockReply,
    cli: {
      name: 'snapshot restore',
      done: 'restored snapshot {name}',
      destroys: { question: 'Replace everything that this daemon keeps on disk?', when: 'kept' },
      examples: ['natter snapshot restore before', 'natter snapshot restore before --json'],
    },
  }),
  remove: controlEndpoint({
    id: 'remove-snapshot',
    route: 'DELETE /snapshots/{name}',
    summary: 'Remove a saved snapshot',
    params: { name: inPath(name, 'the snapshot') },
    cli: {
      name: 'snapshot remove',
      done: 'removed snapshot {name}',
      examples: ['natter snapshot remove before', 'natter snapshot remove before --json'],
    },
  }),
}
